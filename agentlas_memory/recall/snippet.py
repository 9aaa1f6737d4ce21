"""Which lines of a chunk are shown when not all of them fit."""


class Snippet:
    """A run of a chunk's lines with their numbers in the file."""

    __slots__ = ("end_line", "start_line", "text")

    def __init__(self, text: str, start_line: int, end_line: int) -> None:
        self.text = text
        self.start_line = start_line
        self.end_line = end_line


def cut_snippet(
    text: str, start_line: int, end_line: int, wanted: list[str], limit: int
) -> Snippet:
    """Return at most `limit` characters: the lines that hold most of the wanted words.

    Among equal runs the first wins, so that a chunk is read from its beginning. `wanted` are
    stems: a line holds one if the text in lower case does.
    """
    if len(text) <= limit:
        return Snippet(text, start_line, end_line)
    lines = text.split("\n")
    first, last = _best_run(lines, wanted, limit)
    shown = "\n".join(lines[first:last])
    if len(shown) > limit:
        shown = _best_part(shown, wanted, limit)
    numbered = len(lines) == end_line - start_line + 1  # not so when a long line was cut
    return (
        Snippet(shown, start_line + first, start_line + last - 1)
        if numbered
        else Snippet(shown, start_line, end_line)
    )


def _best_run(lines: list[str], wanted: list[str], limit: int) -> tuple[int, int]:
    """Return first and end index of the run of lines within the limit that holds most words."""
    folded = [line.lower() for line in lines]
    best, best_run = -1, (0, 1)
    for first in range(len(lines)):
        size, last = 0, first
        while last < len(lines) and size + len(lines[last]) <= limit:
            size += len(lines[last]) + 1
            last += 1
        last = max(last, first + 1)
        run = "\n".join(folded[first:last])
        count = sum(word in run for word in wanted)
        if count > best:
            best, best_run = count, (first, last)
        if last == len(lines):
            break
    return best_run


def _best_part(line: str, wanted: list[str], limit: int) -> str:
    """Return the part of one long line that holds most words, from the beginning of a sentence."""
    starts = [0]
    while (at := line.find(". ", starts[-1]) + 2) > 1:
        starts.append(at)
        if len(line) - at < limit:
            break
    parts = [line[at : at + limit].lower() for at in starts]
    counts = [sum(word in part for word in wanted) for part in parts]
    start = starts[counts.index(max(counts))]
    part = line[start : start + limit]
    return part if start + limit >= len(line) else part.rpartition(" ")[0] or part
