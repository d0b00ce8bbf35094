from .judges import (
    check_options as check_options,
    has_endpoint as has_endpoint,
    is_named as is_named,
    judge_model as judge_model,
    judge_weights as judge_weights,
    kinds_of as kinds_of,
    model_judge as model_judge,
    named_judge as named_judge,
    needs_endpoint as needs_endpoint,
    offline_judge as offline_judge,
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
    find_suite as find_suite,
    suites_of as suites_of,
)
from .systems import find_system as find_system
