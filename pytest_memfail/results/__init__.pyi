from .compare import (
    Flips as Flips,
    Moved as Moved,
    Row as Row,
    Shift as Shift,
    SideBySide as SideBySide,
    change_of as change_of,
    compare as compare,
    side_by_side as side_by_side,
    twins as twins,
)
from .expressions import (
    ANCHOR_DEFAULT as ANCHOR_DEFAULT,
    DEFAULT as DEFAULT,
    SHOWN_TOKENS as SHOWN_TOKENS,
    Expression as Expression,
    check_tasks as check_tasks,
    measures_of as measures_of,
    parse_expressions as parse_expressions,
)
from .gate import (
    NO_TRUSTWORTHY_RESULT as NO_TRUSTWORTHY_RESULT,
    decide as decide,
    evaluate as evaluate,
    in_ci as in_ci,
)
from .reference import (
    joined as joined,
    outcome_of as outcome_of,
    with_reference as with_reference,
)
from .runs import (
    Loaded as Loaded,
    labels as labels,
    load_record as load_record,
    merge as merge,
)
from .seeds import (
    OverSeeds as OverSeeds,
    SeedMean as SeedMean,
    over_seeds as over_seeds,
    seed_mean as seed_mean,
)
from .statistics import (
    by_row as by_row,
    clustered as clustered,
    correct_together as correct_together,
    mcnemar as mcnemar,
    power as power,
    smallest_detectable as smallest_detectable,
    t_quantile as t_quantile,
    wilson as wilson,
)
from .summary import (
    HELD as HELD,
    MAX_ERROR_SHARE as MAX_ERROR_SHARE,
    Block as Block,
    StoreFigures as StoreFigures,
    Summary as Summary,
    Tally as Tally,
    TaskMean as TaskMean,
    is_unsure as is_unsure,
    success as success,
    suite_records as suite_records,
    summarize as summarize,
)
