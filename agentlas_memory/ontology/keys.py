"""Names of entities, normalised: the same thing gets the same key wherever it is named.

A key is case-folded and carries its kind (`path:`, `adr:`, `issue:`, `id:`, `heading:`), but
for identifiers, which are what a prompt names without saying what they are.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import PurePosixPath
from urllib.parse import unquote

ADR = re.compile(r"\bADR[-_ #]{0,2}0*([1-9]\d{0,4})\b", re.IGNORECASE)
_ADR_FOLDERS = frozenset(
    "adr adrs decision decisions decision-log decision-records architecture-decisions".split()
)
_ADR_FILE = re.compile(r"(?:adr[-_ ]?)?0*([1-9]\d{0,4})(?:[-_. ]|$)", re.IGNORECASE)
_NO_RECORDS = frozenset({"readme", "index", "template", "adr-template"})
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.):]?|[A-Z][.)])\s+")
_HEADING_WORD = re.compile(r"[^\W_]+(?:['’.+#_-]*[^\W_]+)*[+#]*")
_GENERIC_HEADINGS = frozenset(
    """
    about abstract acknowledgements added alternatives api arguments background benefits bug
    fixes|changed changelog changes conclusion configuration cons consequences considered
    options|content contents context contributing credits decision decision drivers|decision
    outcome|dependencies deprecated description details development docs documentation example
    examples faq features fixed getting started|goals how it works|install installation
    introduction intro license links motivation more information|next steps|non-goals note notes
    open questions|options other output overview parameters problem pros pros and cons|purpose
    quick start|quickstart rationale readme references related release notes|removed
    requirements resources returns running tests|security see also|setup solution status steps
    summary support table of contents|test testing tests title todo troubleshooting unreleased
    usage warning why what how who when
    """.replace("\n", " ").split()
)
