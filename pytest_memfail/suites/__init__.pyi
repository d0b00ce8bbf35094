from .kinds import NEVER_SAID as NEVER_SAID
from .load import (
    BUILT_IN as BUILT_IN,
    DEFAULT as DEFAULT,
    Chosen as Chosen,
    TaskRequest as TaskRequest,
    built_in_suite as built_in_suite,
    choose_suites as choose_suites,
    load_tasks as load_tasks,
    match_tasks as match_tasks,
    suites_in as suites_in,
    task_names as task_names,
    validate as validate,
    with_named as with_named,
    with_options as with_options,
)
from .own import (
    CUSTOM as CUSTOM,
    HaystackFinder as HaystackFinder,
    find_custom as find_custom,
    needed_files as needed_files,
    read_custom as read_custom,
    with_users_tasks as with_users_tasks,
)
from .sampling import (
    HAYSTACKS as HAYSTACKS,
    Haystack as Haystack,
    in_turn as in_turn,
    keep_questions as keep_questions,
    sample as sample,
    sample_stores as sample_stores,
)
from .shipped import shipped_data as shipped_data
