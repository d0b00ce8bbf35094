from .judges import (
    NamedJudge as NamedJudge,
    has_endpoint as has_endpoint,
    kinds_of as kinds_of,
    needs_endpoint as needs_endpoint,
)
from .lookup import (
    SUITES as SUITES,
    find as find,
    find_or_none as find_or_none,
    import_object as import_object,
    load_all as load_all,
    names as names,
)
from .suites import (
    check_folders as check_folders,
    chosen_suites as chosen_suites,
    find_recipe as find_recipe,
    find_suite as find_suite,
    suites_of as suites_of,
)
from .systems import find_system as find_system
