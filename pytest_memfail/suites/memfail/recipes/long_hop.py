"""Long-Hop: propose and check chains, audit them against each other, and use each other's ends as wrong options."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from pytest_memfail.authoring import (
    LONG,
    MESSAGE_TOKENS,
    MOST_PROBLEMS,
    SHORT,
    Batch,
    Line,
    Made,
    Raw,
    Request,
    Session,
    Work,
    converse,
    distinct,
    quoted,
    text_faults,
)
from pytest_memfail.core import UsageError
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites.memfail.design import LIKENESS, is_gerund
from pytest_memfail.suites.memfail.options import FIRST_PERSON
from pytest_memfail.suites.memfail.recipes import prompts
from pytest_memfail.suites.memfail.recipes.audit import audited
from pytest_memfail.suites.memfail.recipes.samplers import letters
from pytest_memfail.suites.memfail.row_models import LETTERS
from pytest_memfail.texts import in_plain_words, plain_words

FILE: Final = "long_hop.csv"
HOPS: Final = (1, 2, 3)
A_CHAIN: Final = "a chain"
"""What the model reads as the name of each chain with a fault."""
SPARE: Final = 1.25
"""The ratio of requested to wanted chains, because audit and repeats remove some."""
SUMMARIES: Final = 30
"""The number of earlier chains that the model is told to avoid."""
WRONG: Final = 4
"""Wrong options per chain: the ends of this many others."""
END_WORDS: Final = (2, 4)
"""The fewest and most words of an end, so that each end can be an option for any other chain."""
CHAIN_TOKENS: Final = 130
OWNED: Final = frozenset("my your his her its our their".split())
"""Words that say whose end it is."""


class Chain(BaseModel):
    """One chain."""

    anchors: list[Line]
    facts: list[Line]
    question: Line
    answer: Line


class ChainReply(BaseModel):
    """The reply of a proposal."""

    chains: list[Chain]


class LongHop:
    """The recipe."""

    def __init__(self, request: Request) -> None:
        """Distribute the chains over the hop counts as evenly as possible.

        Raises `UsageError` for too few chains to provide each other's wrong options.
        """
        if request.n <= WRONG:
            raise UsageError(
                f"-n: got {request.n}, expected {WRONG + 1} or more: the wrong options of a chain are the ends of {WRONG} others"
            )
        self._request = request
        self._size = request.batch_size or 5
        share, rest = divmod(request.n, len(HOPS))
        self._wanted = {hops: share + (hops <= rest) for hops in HOPS}

    def plan(self, raw: Raw) -> list[Work]:
        """Return the work of the proposals and of two audit rounds."""
        missing = {hops: max(0, self._asked(hops) - raw.count(f"chains of {hops}")) for hops in HOPS}
        calls = sum(-(-count // self._size) for count in missing.values())
        chains = sum(self._asked(hops) for hops in HOPS)
        frame = count_tokens([prompts.CHAINS]) + MESSAGE_TOKENS + SUMMARIES * 20
        work = [Work("chains", calls, calls * frame, sum(missing.values()) * CHAIN_TOKENS)]
        if calls or not raw.count("audit"):
            windows = 1 + -(-chains // 10)
            work.append(Work("audit", windows, windows * 300 + 3 * chains * 70, windows * 60))
        return work

    async def make(self, session: Session) -> Made:
        """Run each phase on the results of the one before."""
        proposed: dict[str, Chain] = {}
        for hops in HOPS:
            await self._propose(session, hops, proposed)
        survivors = await audited(session, {key: chain.facts for key, chain in proposed.items()})
        facts = {f"{key} fact {i}": fact for key in survivors for i, fact in enumerate(proposed[key].facts, 1)}
        repeats = distinct(facts, LIKENESS, lambda key: key.split()[0])
        single = {key: proposed[key] for key in survivors if key not in repeats}
        chosen = self._chosen(list(single))
        wrong = wrong_options({key: single[key] for key in chosen}, random.Random(f"{self._request.seed}:ends"))
        session.given_up.update(
            {f"chain {key}": f"options: fewer than {WRONG} other ends fit" for key in chosen if key not in wrong}
        )
        rows = self._rows([(key, single[key], wrong[key]) for key in chosen if key in wrong])
        counts = {
            "wanted": self._request.n,
            "proposed": len(proposed),
            "removed_by_the_audit": len(proposed) - len(survivors),
            "before_deduplication": len(survivors),
            "near_duplicates": len(survivors) - len(single),
            "after_deduplication": len(single),
            "spare": len(single) - len(chosen),
            "without_options": len(chosen) - len(wrong),
            "kept": len(rows),
        }
        return Made({FILE: rows}, counts, {"fact": LIKENESS}, list(repeats.values()))

    # -- proposals ---------------------------------------------------------------------------------------------------

    def _asked(self, hops: int) -> int:
        return math.ceil(self._wanted[hops] * SPARE)

    async def _propose(self, session: Session, hops: int, proposed: dict[str, Chain]) -> None:
        """Request batches, each with the earlier chains, until there are enough or a batch brings none."""
        stage, wanted = f"chains of {hops}", self._asked(hops)
        done = 0

        def add(chain: Chain) -> None:
            nonlocal done
            done += 1
            proposed[f"{hops}-{done:03d}"] = chain

        while done < wanted and (found := session.raw.get(stage, str(done + 1), Chain)) is not None:
            if broken := next(chain_faults(hops, found, list(proposed.values())), None):
                raise UsageError(f"{session.raw.path}: {stage} {done + 1}: {broken}; correct the line")
            add(found)

        def accept(chain: Chain) -> None:
            session.raw.add(stage, str(done + 1), chain)
            add(chain)
            session.show(stage, done, wanted)

        while (missing := wanted - done) > 0:
            batch = ChainBatch(hops, min(self._size, missing), proposed, accept)
            await converse(session, stage, ChainReply, batch)
            if not batch.fruitful:
                session.given_up[stage] = f"{missing} chains: {batch.problem}"
                break

    # -- rows --------------------------------------------------------------------------------------------------------

    def _chosen(self, keys: Sequence[str]) -> list[str]:
        by_hops = {hops: [key for key in keys if key.startswith(f"{hops}-")] for hops in HOPS}
        return [key for hops in HOPS for key in by_hops[hops][: self._wanted[hops]]]

    def _rows(self, chains: Sequence[tuple[str, Chain, list[str]]]) -> list[dict[str, str]]:
        right = letters(len(chains), self._request.seed)
        rng = random.Random(f"{self._request.seed}:options")
        return [
            self._row(key, chain, wrong, letter, rng) for (key, chain, wrong), letter in zip(chains, right, strict=True)
        ]

    def _row(self, key: str, chain: Chain, wrong: list[str], letter: str, rng: random.Random) -> dict[str, str]:
        options = list(wrong)
        rng.shuffle(options)
        options.insert(LETTERS.index(letter), chain.answer)
        listed = "\n".join(f"{name}. {option}" for name, option in zip(LETTERS, options, strict=True))
        facts = dict(zip((f"fact_{i}" for i in range(1, 5)), [*chain.facts, "", "", ""], strict=False))
        anchors = dict(zip((f"chain_{i}" for i in range(1, 6)), [*chain.anchors, "", "", ""], strict=False))
        return {
            "id": f"lh-g{self._request.seed}-{key}",
            "hop_count": key.split("-")[0],
            **facts,
            **anchors,
            "graded_question": f"{chain.question}\n\nOptions:\n{listed}",
            "ground_truth_answer": chain.answer,
            **{f"choice_{name.lower()}": option for name, option in zip(LETTERS, options, strict=True)},
            "correct_choice": letter,
        }


class ChainBatch(Batch[str]):
    """Some chains of one hop count."""

    def __init__(self, hops: int, missing: int, known: Mapping[str, Chain], accept: Callable[[Chain], None]) -> None:
        """Prepare the batch; `accept` is called with each valid chain, and adds it to the known ones."""
        super().__init__(prompts.CHAINS, [A_CHAIN])
        self._hops, self._missing, self._known, self._accept = hops, missing, known, accept

    def asked(self) -> Mapping[str, Any]:
        """Return the number of missing chains, with the chains to avoid."""
        taken = [" -> ".join(chain.anchors) for chain in list(self._known.values())[-SUMMARIES:]]
        return {"chains": self._missing, "K": self._hops, "taken": taken}

    def take(self, reply: ChainReply) -> None:
        """Accept the valid chains, up to the number requested."""
        problems: list[str] = []
        for chain in reply.chains[: self._missing]:
            found = list(chain_faults(self._hops, chain, list(self._known.values())))
            if found:
                problems += found[:2]
            else:
                self._accept(chain)
                self._missing -= 1
                self.fruitful = True
        if self._missing and not problems:
            problems = [f"chains: got {len(reply.chains)}, {self._missing} more were wanted"]
        self.problems = {A_CHAIN: problems[: 2 * MOST_PROBLEMS]} if self._missing else {}


def chain_faults(hops: int, chain: Chain, others: Sequence[Chain]) -> Iterator[str]:
    """Yield the rules of appendix B.6 that a chain breaks."""
    if len(chain.anchors) != hops + 2 or len(chain.facts) != hops + 1:
        yield f"got {len(chain.anchors)} anchors and {len(chain.facts)} facts, expected {hops + 2} and {hops + 1}"
        return
    faults = [fault for anchor in chain.anchors for fault in text_faults("anchors", anchor, SHORT)]
    for text in (*chain.facts, chain.question):
        faults += text_faults("facts and question", text, LONG)
    if faults:
        yield from faults
        return  # the following rules expect texts of normal length
    if len({tuple(plain_words(anchor)) for anchor in chain.anchors}) < len(chain.anchors):
        yield "anchors: the same one twice, expected different ones"
    for i, fact in enumerate(chain.facts):
        for j, anchor in enumerate(chain.anchors):
            bordered = j in (i, i + 1)
            if bordered and anchor.casefold() not in fact.casefold():
                yield f"fact {i + 1} lacks its anchor {quoted(anchor)}"
            if not bordered and j > 0 and in_plain_words(anchor, fact):  # the first anchor may be behind every fact
                yield f"fact {i + 1} holds {quoted(anchor)}, which it does not border"
    if not _names(chain.anchors[0], chain.question):
        yield f"the question does not name {quoted(chain.anchors[0])}"
    if mentioned := [anchor for anchor in chain.anchors[1:] if in_plain_words(anchor, chain.question)]:
        yield f"the question names {quoted(mentioned[0])}, expected the first anchor alone"
    if chain.answer.casefold() != chain.anchors[-1].casefold():
        yield f"the answer is {quoted(chain.answer)}, expected the last anchor {quoted(chain.anchors[-1])}"
    if "Options:" in chain.question:
        yield "the question holds options, expected the question alone"
    yield from _end_faults(chain.answer)
    for i, text in enumerate((*chain.facts, chain.question), 1):
        if not FIRST_PERSON.search(text):
            what = "the question" if i > len(chain.facts) else f"fact {i}"
            yield f"{what} is not about the speaker, expected the first person"
    heads = {other.anchors[0].casefold() for other in others}
    distinctive = {anchor.casefold() for other in others for anchor in other.anchors if " " in anchor}
    for i, anchor in enumerate(chain.anchors):
        if anchor.casefold() in distinctive or (i == 0 and anchor.casefold() in heads):
            yield f"the anchor {quoted(anchor)} is taken by another chain"


def _end_faults(end: str) -> Iterator[str]:
    """Yield the rules that an end breaks, so that it can be an option for any other chain."""
    words = plain_words(end)
    if not words or not is_gerund(words[0]) or not END_WORDS[0] <= len(words) <= END_WORDS[1]:
        yield f"the answer is {quoted(end)}, expected {END_WORDS[0]} to {END_WORDS[1]} words that begin with a verb in -ing"
    if owned := [word for word in words if word in OWNED]:
        yield f"the answer {quoted(end)} holds {owned[0]!r}, expected nothing that says whose it is"


def _names(anchor: str, question: str) -> bool:
    """Return whether the question contains the anchor, or at least its last word of three or more letters."""
    long = [word for word in plain_words(anchor) if len(word) > 2]
    return anchor.casefold() in question.casefold() or bool(long and long[-1] in plain_words(question))


def wrong_options(chains: Mapping[str, Chain], rng: random.Random) -> dict[str, list[str]]:
    """Return the ends of four other chains for each chain, each end about equally often.

    An option that is not in the store, or is used for one chain only, would reveal the answer. A chain that shares
    words with too many ends gets no options. Its own end is then not used either, because it will not be stored.
    """
    # two ends with the same verb reveal nothing
    ends = {key: set(plain_words(chain.answer)[1:]) for key, chain in chains.items()}
    own = {key: {w for a in chain.anchors for w in plain_words(a) if len(w) > 3} for key, chain in chains.items()}
    fitting = {key: [other for other in chains if other != key and not own[key] & ends[other]] for key in chains}
    while poor := [key for key, others in fitting.items() if len(others) < WRONG]:
        fitting = {
            key: [other for other in others if other not in poor] for key, others in fitting.items() if key not in poor
        }
    offered: Counter[str] = Counter()
    wrong: dict[str, list[str]] = {}
    for key, others in fitting.items():
        rng.shuffle(others)
        others.sort(key=lambda other: offered[other])
        offered.update(others[:WRONG])
        wrong[key] = [chains[other].answer for other in others[:WRONG]]
    return wrong
