"""Whether a changed file says, in words that it did not have when it was indexed, that it fell."""

from agentlas_memory.ontology.statuses import FALLEN, NAMES, STATUS_OF

_LONGEST, _MOST_WORDS = 120, 12  # of a line that tells a status
_NAMES = frozenset(NAMES.split("|"))
_NO_WORD = dict.fromkeys(map(ord, "|*_`~#>[]():;,.!-+=\"'"), " ")


def has_newly_fallen(text: str, known: "set[str]") -> bool:
    """Tell whether a line that is not among the known ones begins with a status of what fell.

    The status itself is read by the next `index`; until then a record that may have been rejected
    is not told. Known are the lines that were indexed, and the headings above them.
    """
    for line in text.split("\n"):
        if (
            len(line) <= _LONGEST
            and line not in known
            and line.lstrip("# \t").rstrip() not in known
        ):
            words = line.lower().translate(_NO_WORD).split()
            if words and len(words) <= _MOST_WORDS and _tells_fall(words, line):
                return True
    return False


def _tells_fall(words: "list[str]", line: str) -> bool:
    told = words[1:2] if words[0] in _NAMES else words[:1]
    if line.rstrip().endswith((")", "]")):
        told += words[-1:]  # a heading's mark: `(REJECTED)`
    return any(STATUS_OF.get(word) in FALLEN for word in told)
