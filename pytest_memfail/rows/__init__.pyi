from .chats import (
    Chat as Chat,
    Chats as Chats,
    Turn as Turn,
    is_chat as is_chat,
    read_chats as read_chats,
)
from .decoding import (
    HALF as HALF,
    half_character as half_character,
    may_be_cut as may_be_cut,
)
from .faults import (
    Text as Text,
    place_of as place_of,
    row_faults as row_faults,
)
from .ids import (
    ROW_ID as ROW_ID,
    digest as digest,
    numbered as numbered,
    slug as slug,
)
from .json_rows import (
    JsonRow as JsonRow,
    RowStream as RowStream,
    read_json_rows as read_json_rows,
    read_row_again as read_row_again,
)
from .repeats import (
    PERMUTATIONS as PERMUTATIONS,
    near_duplicates as near_duplicates,
    shared_runs as shared_runs,
)
from .tables import (
    Table as Table,
    read_table as read_table,
)
from .yaml_files import (
    YamlError as YamlError,
    read_yaml as read_yaml,
)
