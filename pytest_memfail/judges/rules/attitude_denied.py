"""What is said against a thing on both sides of its name, or before it alone: not needed, not thought good, left to others."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.whose_words import RELATIONS

UNNEEDED: Final = re.compile(
    r"\b(?:no|little|hardly any|n[o']t (?:\w+ )?any) (?:real |great |particular )?(?:need|reason|room|call|place|cause) "
    r"(?:for|of|in|to (?:have|buy|own|get|use|go|do|keep|eat|drink|play|watch|wear|read|try|bother with))(?: [\w']+){0,2} $",
    re.IGNORECASE,
)
"""Before what one sees no need for."""
UNTHOUGHT: Final = re.compile(
    r"(?:\b(?:not|never|hardly|no longer)|n't) (?:(?:really|quite|at all|ever|exactly) )?(?:think|consider|find"
    r"|believe|feel|see|regard|rate|view|call|count|deem|reckon)s?\b[^,.;:]*$",
    re.IGNORECASE,
)
WORTHY: Final = re.compile(
    r"[^,.;:]*?\b(?:good|great|nice|best|right|ideal|fun|worth\w*|interesting|exciting|enjoyable|relaxing|soothing|calming|pleasant"
    r"|beautiful|lovely|tasty|delicious|funny|useful|helpful|reliable|satisfying|rewarding|appealing|attractive|inspiring|comfortable"
    r"|convenient|practical|fascinating|engaging|entertaining|suitable)\b",
    re.IGNORECASE,
)
"""What a thing is not thought to be, behind its name: "does not find jigsaws relaxing"."""
ENDED: Final = re.compile(
    r"(?:\b(?:cancel(?:l)?ed|ditched|packed in|hung up|binned|shelved)|(?:n't|\b(?:not|never)) been back to)"
    r" (?:(?:the|her|his|their|my|all|any) )?$",
    re.IGNORECASE,
)
"""Before what one has ended."""
EXCEPTED: Final = re.compile(
    r"^(?!.*\b(?:nobody|none|no one)\b).*"
    r"\b(?:everyone|everybody|all|family|household|team|group|others|friends|colleagues)\b"
    r"[^,.;:]*? (?:but|except(?:ing)?(?: for)?|bar|save|apart from|other than) (?:the )?(?:user|me)\b(?!')",
    re.IGNORECASE,
)
"""What everyone but the user does."""
RATING: Final = re.compile(r"\b(?:rates?|rated|ranks?|ranked|scores?|scored)(?: [\w']+){0,2} $", re.IGNORECASE)
LOW: Final = re.compile(r" (?:\w+ )?(?:low|lowest|poorly|bottom)\b", re.IGNORECASE)
LEFT_TO: Final = re.compile(r"\b(?:leav(?:es?|ing)|left|hands?|handed)(?: [\w'-]+){0,2} $", re.IGNORECASE)
OTHERS_DO: Final = re.compile(
    r"(?: \w+){0,2}? to (?:(?:the|her|his|their|my|our|user's|all) )*(?:(?P<who>[a-z]+)\b|(?=[A-Z]))"
)
"""To whom a thing is left, behind its name."""
OTHERS: Final = RELATIONS | {"family", "people", "others", "everyone"}


def denied(before: str, after: str) -> bool:
    """Whether the user has no use for the thing between the two texts.

    >>> denied("User leaves the ", " to her sister.")
    True
    """
    return (
        UNNEEDED.search(before) is not None
        or ENDED.search(before) is not None
        or EXCEPTED.search(before) is not None
        or (LOW.match(after) is not None and RATING.search(before) is not None)
        or (WORTHY.match(after) is not None and UNTHOUGHT.search(before) is not None)
        or _is_left_to(before, after)
    )


def _is_left_to(before: str, after: str) -> bool:
    """Whether the thing is left to somebody else: "leaves the baking to her sister"."""
    to = OTHERS_DO.match(after) if LEFT_TO.search(before) else None
    return to is not None and (to["who"] is None or to["who"] in OTHERS)
