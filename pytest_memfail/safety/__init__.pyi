from .escape import (
    block as block,
    encodable as encodable,
    escape_controls as escape_controls,
    json_line as json_line,
)
from .secret_names import secret_strength as secret_strength
from .secrets import (
    KNOWN as KNOWN,
    is_common as is_common,
    is_setting as is_setting,
    learn_options as learn_options,
    learn_sent as learn_sent,
    mask_known as mask_known,
    mask_options as mask_options,
    mask_text as mask_text,
    mask_values as mask_values,
    may_hold_secrets as may_hold_secrets,
    public as public,
)
