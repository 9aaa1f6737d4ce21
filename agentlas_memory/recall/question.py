"""What a prompt asks: the words of its head and tail, without pasted data."""

from agentlas_memory.ontology.analyzer import QueryTerm, query_terms, read_language

HEAD = TAIL = 6000  # characters read of a long prompt, at each end
_SHORT = 600  # a prompt of this length is asked whole
_WINDOW = 400  # characters of prose at each end of a longer one
_TERMS = 64  # distinct terms looked up at each end: a page of Chinese has hundreds of pairs
_ASKING = ("what", "which", "who", "where", "when", "why", "how", "is", "are", "do", "does", "can")
_AROUND = "?!.,:;()[]{}<>'\"`*“”‘’…"
_RECORDS, _ISSUES = ("adr", "adrs"), ("issue", "issues", "pr", "prs")
_BETWEEN = ("and", "or", "vs", "with", "&")  # of the numbers in `ADR 3 and 4`
_DATA_STARTS = ("{", "}", "[", "]", "<", '"', "|", "@@", "+++", "---", "diff ", "at ", 'File "')


class Question:
    """What is asked: the text's words as written, each with its terms, and the distinct terms."""

    __slots__ = ("language", "languages", "numbered", "terms", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.language = read_language(text)
        self.languages = [self.language]  # that its terms are stems of
        self.words = [(word, query_terms(word, self.language)) for word in text.split()]
        self.numbered = numbered_keys(plain_words(text))
        self.terms: dict[str, QueryTerm] = {}
        for _, terms in self.words:
            for term in terms:
                self.terms.setdefault(term.term, term)
        if len(self.terms) > 2 * _TERMS:
            found = list(self.terms.items())
            self.terms = dict(found[:_TERMS] + found[-_TERMS:])

    @property
    def records(self) -> list[str]:
        """Return the keys of the decision records that are named by number."""
        return [key for key in self.numbered if key.startswith("adr:")]

    @property
    def is_question(self) -> bool:
        """Tell whether the text asks, as far as its first word or its last sign says so."""
        first = self.words[0][0].casefold().partition("'")[0] if self.words else ""
        return first in _ASKING or self.text.rstrip().endswith(("?", "？"))


def plain_words(text: str) -> list[str]:
    """Return the words of a text without case and what stands around them."""
    return [word.strip(_AROUND).casefold() for word in text.split()]


def numbered_keys(words: list[str]) -> dict[str, bool]:
    """Return the keys of the decision records and issues that are named, and whether surely.

    A `#1` alone is as often a rank or a choice as an issue.
    """
    found: dict[str, bool] = {}
    counted = ""  # what the numbers that follow are numbers of
    for at, word in enumerate(words):
        if word in _RECORDS or words[max(0, at - 1) : at + 1] == ["decision", "record"]:
            counted = "adr"
        elif word in _ISSUES:
            counted = "issue"
        elif counted and (number := _number_after(word, "")):
            found[f"{counted}:{number}"] = True
        elif number := _number_after(word, "adr"):
            found[f"adr:{number}"] = True
            counted = "adr"
        elif number := _number_after(word, "#") or _number_after(word, "gh-"):
            found.setdefault(f"issue:{number}", len(number) > 1)
        elif word not in _BETWEEN:
            counted = ""
    return found


def _number_after(word: str, mark: str) -> str:
    """Return the number in `adr-0007` or `#12` without leading zeros, blank when there is none."""
    rest = word[len(mark) :].removesuffix("'s").lstrip("-_#") if word.startswith(mark) else ""
    return rest.lstrip("0") if rest.isascii() and rest.isdigit() else ""


def read_question(prompt: str) -> Question:
    """Return what the prompt asks.

    People paste logs, JSON and diffs around a question, and a host may wrap it in metadata. Of a
    long prompt only lines that read like sentences count, and of those the first and the last.
    """
    if len(prompt) > HEAD + TAIL:
        prompt = prompt[:HEAD] + "\n" + prompt[-TAIL:]
    if not prompt.isascii():  # a lone surrogate is no text to SQLite
        prompt = prompt.encode("utf-8", "replace").decode("utf-8")
    if len(prompt) <= _SHORT:
        return Question(prompt)
    prose = [line for line in _lines_outside_fences(prompt) if _reads_like_prose(line)]
    text = "\n".join(prose) or prompt
    if len(text) <= 2 * _WINDOW:
        return Question(text)
    return Question(_cut_end(text[:_WINDOW]) + "\n" + _cut_start(text[-_WINDOW:]))


def _lines_outside_fences(text: str) -> list[str]:
    if text.count("```") < 2:
        return text.splitlines()
    return "\n".join(text.split("```")[::2]).splitlines()


def _reads_like_prose(line: str) -> bool:
    """Tell a sentence from a line of data: mostly words of letters, no `"key":`, no timestamp."""
    line = line.strip()
    if not line or line.startswith(_DATA_STARTS) or '":' in line:
        return False
    words = line[:_WINDOW].split()
    plain = sum(word.strip(".,;:!?()'\"`*").isalpha() for word in words)
    return plain * 3 >= len(words) * 2


def _cut_end(text: str) -> str:
    return text.rpartition(" ")[0] or text


def _cut_start(text: str) -> str:
    return text.partition(" ")[2] or text
