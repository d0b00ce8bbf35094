from .balance import (
    Balance as Balance,
    balance as balance,
)
from .cases import (
    LABELS as LABELS,
    POINTS as POINTS,
    SPLITS as SPLITS,
    STYLES as STYLES,
    Case as Case,
    Label as Label,
    LabelledReply as LabelledReply,
    cases_folder as cases_folder,
    data_hash as data_hash,
    read_cases as read_cases,
    read_replies as read_replies,
    shipped_cases as shipped_cases,
)
from .check import (
    Judged as Judged,
    judge_all as judge_all,
    judge_cases as judge_cases,
)
from .correction import (
    Change as Change,
    Correction as Correction,
    train_correction as train_correction,
)
from .measures import (
    measure as measure,
    mutation_score as mutation_score,
)
from .planting import (
    planted_cases as planted_cases,
)
from .replies import (
    GradedReply as GradedReply,
    grade_replies as grade_replies,
    reply_measures as reply_measures,
)
