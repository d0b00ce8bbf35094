from .asking import (
    MOST_PROBLEMS as MOST_PROBLEMS,
    Batch as Batch,
    Item as Item,
    Session as Session,
    Stage as Stage,
    WholeReply as WholeReply,
    as_json as as_json,
    converse as converse,
    run_stage as run_stage,
    together as together,
)
from .output import (
    CONFIG as CONFIG,
)
from .pipeline import (
    Estimate as Estimate,
    Generation as Generation,
    Report as Report,
)
from .prompts import (
    FRAME as FRAME,
    messages as messages,
    spanned as spanned,
)
from .raw import (
    Raw as Raw,
)
from .recipe import (
    MESSAGE_TOKENS as MESSAGE_TOKENS,
    DrawnRecipe as DrawnRecipe,
    Made as Made,
    Maker as Maker,
    Recipe as Recipe,
    Request as Request,
    SingleStage as SingleStage,
    Work as Work,
    distinct as distinct,
    row_counts as row_counts,
    stage_work as stage_work,
)
from .rules import (
    ESSAY as ESSAY,
    LONG as LONG,
    SHORT as SHORT,
    Line as Line,
    quoted as quoted,
    stems as stems,
    text_faults as text_faults,
)
