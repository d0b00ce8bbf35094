from .cascade import (
    CascadeJudge as CascadeJudge,
)
from .encoder import (
    check_packages as check_packages,
)
from .letters import (
    parse_letter as parse_letter,
)
from .model import (
    ModelJudge as ModelJudge,
)
from .nli import (
    NliJudge as NliJudge,
    NliModel as NliModel,
)
from .offline import (
    KEPT as KEPT,
    OfflineJudge as OfflineJudge,
    closest as closest,
    is_foreign as is_foreign,
    sigmoid as sigmoid,
    weights_in_use as weights_in_use,
)
from .yes_no import (
    YesNoJudge as YesNoJudge,
)
