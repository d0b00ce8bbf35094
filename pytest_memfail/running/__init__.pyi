from .earlier import (
    kept_records as kept_records,
    known_verdicts as known_verdicts,
    latest_recorded as latest_recorded,
    resume as resume,
)
from .gate import Gatekeeper as Gatekeeper
from .heading import heading as heading, selected_by as selected_by
from .journals import (
    DEATHS as DEATHS,
    JOURNALS_LOCK as JOURNALS_LOCK,
    JOURNALS_PREFIX as JOURNALS_PREFIX,
    in_flight as in_flight,
    last_progress as last_progress,
    loud_exit as loud_exit,
    shared_folder as shared_folder,
)
from .models import check_models as check_models
from .output import (
    TerminalLine as TerminalLine,
    Watcher as Watcher,
    replay as replay,
    scrub as scrub,
)
from .plan import (
    ROOT as ROOT,
    Asked as Asked,
    Run as Run,
    Selection as Selection,
    Unit as Unit,
    haystack_for as haystack_for,
)
from .record import RunRecord as RunRecord, record_header as record_header
from .reference import (
    SHIPPED_REFERENCE as SHIPPED_REFERENCE,
    ask_reference as ask_reference,
    digest as digest,
    find_reference as find_reference,
    question_digest as question_digest,
    read_reference as read_reference,
)
from .stores import Runtime as Runtime, fresh as fresh
