"""A key that stands in two string literals: `"ghp_abc" + "def"`."""

import re
from collections.abc import Iterator

from agentlas_memory.redaction.rules import PREFIXES

# A literal, then others of the same quotes, joined by an operator, a line's end or a blank.
_JOINED = re.compile(
    r"(?P<quote>[\"'])(?P<first>[A-Za-z0-9][\w.~$+/=\-]{2,200})(?P=quote)"
    r"(?P<rest>(?:[ \t\r\n\\+.&]{0,60}(?P=quote)[\w.~$+/=%\-]{1,400}(?P=quote)){1,8})"
)
_GAP = " \t\r\n\\+.&"


def find_joined(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, the key they make) of literals that begin like a key."""
    for match in _JOINED.finditer(text):
        if match["first"].startswith(PREFIXES):
            quote = match["quote"]
            parts = match["rest"].split(quote)[1::2]
            yield match.start("first"), match.end() - 1, match["first"] + "".join(parts)
