from .answers import (
    asserts as asserts,
    contains as contains,
    f1 as f1,
    longest_run as longest_run,
    names as names,
    ordered as ordered,
    same as same,
    share as share,
    states as states,
    verbatim as verbatim,
)
from .finders import (
    Entries as Entries,
    Hit as Hit,
    entries_of as entries_of,
)
from .markers import (
    hedged as hedged,
    is_doubtful as is_doubtful,
    is_hypothetical as is_hypothetical,
    marks_applied as marks_applied,
    marks_condition as marks_condition,
    marks_idea as marks_idea,
    marks_other as marks_other,
    marks_past as marks_past,
    marks_present as marks_present,
    marks_removal as marks_removal,
)
