from .answers import (
    answer_by_rule as answer_by_rule,
)
from .conftest_systems import (
    system_of_conftest as system_of_conftest,
)
from .contract import (
    CheckResult as CheckResult,
    ContractError as ContractError,
    ContractReport as ContractReport,
    check_memory_system as check_memory_system,
)
from .endpoint import (
    LocalEndpoint as LocalEndpoint,
)
from .extraction import (
    reply_by_rule as reply_by_rule,
)
from .faults import (
    FAULT_KINDS as FAULT_KINDS,
    Fault as Fault,
    Reply as Reply,
    ToolCall as ToolCall,
)
