from .address import (
    PLACEHOLDER_KEY as PLACEHOLDER_KEY,
    check_address as check_address,
    check_sdk as check_sdk,
)
from .cache import (
    CacheSummary as CacheSummary,
    ResponseCache as ResponseCache,
)
from .chat import (
    SystemChat as SystemChat,
)
from .client import (
    ModelClient as ModelClient,
)
from .completion import (
    Completion as Completion,
    Usage as Usage,
)
from .errors import (
    AuthError as AuthError,
    BudgetError as BudgetError,
    CacheMissError as CacheMissError,
    ContextLengthError as ContextLengthError,
    EndpointError as EndpointError,
    ModelCallError as ModelCallError,
    ModelError as ModelError,
    RateLimitError as RateLimitError,
    RefusalError as RefusalError,
    ReplyError as ReplyError,
    RequestError as RequestError,
    WaitError as WaitError,
)
from .ledger import (
    Ledger as Ledger,
    Spent as Spent,
    Totals as Totals,
)
from .patience import (
    Clock as Clock,
)
from .prices import (
    Price as Price,
    Prices as Prices,
)
from .proxy import (
    Proxy as Proxy,
    StoreCalls as StoreCalls,
)
from .replay_ignore import (
    check_patterns as check_patterns,
)
from .test_taker import (
    ModelTestTaker as ModelTestTaker,
)
from .tokens import (
    count_tokens as count_tokens,
    first_tokens as first_tokens,
    last_tokens as last_tokens,
    why_approximate as why_approximate,
)
