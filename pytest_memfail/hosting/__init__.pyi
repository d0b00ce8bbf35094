from .calls import (
    CURRENT as CURRENT,
    GRACE_SECONDS as GRACE_SECONDS,
    Captured as Captured,
    DaemonPool as DaemonPool,
    Lane as Lane,
    Limits as Limits,
    ModelCalls as ModelCalls,
    Outcomes as Outcomes,
    called as called,
    described as described,
    raised_as as raised_as,
    shared_task as shared_task,
)
from .listing import (
    StoredTexts as StoredTexts,
    changes as changes,
    late_entries as late_entries,
    memories_from as memories_from,
)
from .resources import (
    Journal as Journal,
    Resources as Resources,
    TokenRules as TokenRules,
)
from .shelf import (
    OtherSettingsError as OtherSettingsError,
    Shelf as Shelf,
    check_reusable as check_reusable,
    is_ours as is_ours,
    kept_in as kept_in,
)
from .system import (
    HostedStore as HostedStore,
    OpenSystem as OpenSystem,
    Retrieved as Retrieved,
    StoreReport as StoreReport,
    check_factory as check_factory,
    described_by as described_by,
    isolation_advice as isolation_advice,
    open_system as open_system,
)
