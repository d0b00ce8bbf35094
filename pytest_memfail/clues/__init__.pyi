from .find import (
    ALPHA as ALPHA,
    find_clues as find_clues,
)
