"""Run store plans: fill stores, ask their questions ahead, and judge the answers. Independent of any test runner.

Each process has one background event loop. A store creates its system, stores the conversations in order, lists the memories,
and asks all selected questions, a window ahead of the item that the test runner waits for. A synchronous system stays on one
thread from creation to close, because a default SQLite connection is bound to its thread.

Stores may alternate filling and asking (`Ingest` and `Probe`): the next conversation is stored only after retrieval for all
questions of a probe. Storage and summary are judged once for each fact and listing, and shared by all questions and k. A probe
without selected questions is listed too if a later question expects a fact stored before it: what this listing has and the
later one lacks is `lost_later`, whichever questions are selected.

To notice a listing that is only a page, three stored conversations are looked for in it at the last probe. If one is missing,
its first message is searched for: an entry that the search returns and the listing lacks proves it. Every retrieved entry must
be listed too. At the end a few questions that missed something are asked again, to notice a search that lags.

With kept stores, the content before each probe has a key. A store kept under it is restored; its listing must equal the kept
one, and three of its texts must find what they found then, or it is filled again.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
