from .grade import (
    EarlierListing as EarlierListing,
    Grader as Grader,
    NeededOutcome as NeededOutcome,
)
from .loop import (
    Engine as Engine,
)
from .questions import (
    Ask as Ask,
    Result as Result,
    needs_additions as needs_additions,
    searches as searches,
)
from .store import (
    StoreJob as StoreJob,
    StoreRun as StoreRun,
)
