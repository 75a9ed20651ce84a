"""Numbers, directions and lists in words: one rounding rule and one minus sign everywhere.

What a person reads goes through here: tables on the terminal, the report, pictures, notebooks,
explanations and messages. What a program reads (JSON, files) does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

MINUS = "\N{MINUS SIGN}"
#: What stands for a number that is not known.
UNKNOWN = "–"
#: What the two arrows mean, as a footnote says it.
ARROWS = "↑: greater is better, ↓: smaller is better."
#: Characters of a message to a user at most, and of a name, a list of names and a path in it.
LONGEST_MESSAGE = 300
LONGEST_NAME, LONGEST_LIST, LONGEST_PATH = 40, 120, 60

#: What moves the cursor, colours or turns around what follows: no end of line and no tab.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


#: Whether messages are read by somebody at the command line, who knows options.
_OF_OPTIONS = ContextVar("of options", default=False)
#: What parameters are called there, if they are not called by their names.
_OPTIONS = {"n_clusters": "-k", "n_init": "--starts", "transform_columns": "--transform"}


@contextmanager
def speaking_of_options() -> Iterator[None]:
    """Within, messages name options of the command line in place of Python's parameters."""
    before = _OF_OPTIONS.set(True)
    try:
        yield
    finally:
        _OF_OPTIONS.reset(before)


def speaks_of_options() -> bool:
    """Whether messages are read by somebody at the command line."""
    return _OF_OPTIONS.get()


def parameter(name: str, value: Any = None) -> str:
    """A parameter, and a value of it, in a message: in the words of whoever reads it.

    >>> parameter("missing", "drop"), parameter("n_init"), parameter("n_clusters", range(2, 5))
    ('missing="drop"', 'n_init', 'n_clusters=range(2, 5)')
    >>> with speaking_of_options():
    ...     parameter("missing", "drop"), parameter("n_init"), parameter("n_clusters", range(2, 5))
    ('--missing drop', '--starts', '-k 2:4')
    """
    if _OF_OPTIONS.get():
        option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
        if isinstance(value, range):
            value = f"{value[0]}:{value[-1]}"
        return option if value is None else f"{option} {shortened(value, LONGEST_NAME)}"
    if value is None:
        return name
    return (
        f'{name}="{shortened(value, LONGEST_NAME)}"'
        if isinstance(value, str)
        else f"{name}={shown(value)}"
    )


def number(value: float, digits: int = 4) -> str:
    """A number with ``digits`` digits, or with all before the point and one behind it.

    >>> number(0.123456), number(-1234.567), number(70000), number(1e-9)
    ('0.1235', '−1,234.6', '70,000', '1e−09')
    >>> number(5408.8123, 5), number(5408.8123, 6)
    ('5,408.8', '5,408.81')
    """
    value = float(value)
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value == int(value) and abs(value) < 1e15:
        text = f"{value:,.0f}"
    elif 10.0 ** (digits - 1) <= abs(value) < 1e7:
        text = f"{value:,.1f}"
    else:
        text = f"{value:,.{digits}g}"
    return "0" if text == "-0" else text.replace("-", MINUS)


def fixed(value: float | None, places: int) -> str:
    """A number with a fixed number of places, as in a column where the points stand in line.

    >>> fixed(-0.5, 2), fixed(-0.001, 2), fixed(None, 2)
    ('−0.50', '0.00', '–')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    text = f"{value:,.{places}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0.0 else text.replace("-", MINUS)


def percent(part: float) -> str:
    """Whole percents; a part that is not nothing is never 0 %, one that is not all never 100 %.

    >>> percent(0.254), percent(0.001), percent(1.0)
    ('25%', 'less than 1%', '100%')
    """
    if 0.0 < part < 0.005:
        return "less than 1%"
    if 0.995 <= part < 1.0:
        return "more than 99%"
    return f"{part:.0%}"


def short_percent(part: float) -> str:
    """The same where there is little room: "<1%"."""
    return percent(part).replace("less than ", "<").replace("more than ", ">")


def better(direction: int) -> str:
    """Which values of an index are better: "greater" or "smaller"."""
    return "greater" if direction > 0 else "smaller"


def arrow(direction: int) -> str:
    """↑ where greater values are better, ↓ where smaller ones are."""
    return "↑" if direction > 0 else "↓"


def plural(n: int, noun: str) -> str:
    """The noun for n things.

    >>> plural(1, "class"), plural(2, "class"), plural(0, "category")
    ('class', 'classes', 'categories')
    """
    if n == 1:
        return noun
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    if noun.endswith("half"):
        return f"{noun[:-1]}ves"
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def counted(n: int, noun: str) -> str:
    """A number of things: "1 sample", "2,000 samples", "3 classes"."""
    return f"{n:,} {plural(n, noun)}"


def listed(names: Iterable[Any], most: int | None = None) -> str:
    """Things in a sentence; of many the first ones.

    >>> listed("abc"), listed("abcde", most=2)
    ('a, b and c', 'a, b and 3 more')
    """
    texts = [str(name) for name in names]
    if most is not None and len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def quoted(names: Sequence[str], most: int = 8) -> str:
    """Names for a message, each in quotes; of many the first ones.

    >>> quoted(["a", "b"]), quoted("abcde", most=2)
    ("'a', 'b'", "'a', 'b' and 3 more")
    """
    texts = [shown(name) for name in names[:most]]
    while len(texts) > 1 and len(", ".join(texts)) > LONGEST_LIST:
        texts.pop()
    left = len(names) - len(texts)
    return f"{', '.join(texts)} and {left} more" if left else ", ".join(texts)


def shortened(name: Any, most: int) -> str:
    """A name in one line, with an ellipsis in the middle if it has more letters than ``most``."""
    return _without_middle(" ".join(str(name).split()), most)


def shown(value: Any, most: int = LONGEST_NAME) -> str:
    """A value from a file or a user in quotes as `repr` puts them, short enough for a message.

    >>> shown("a\\x1b[1m"), shown("abcdefghij" * 9, 20)
    ("'a\\\\x1b[1m'", "'abcdefghi…cdefghij'")
    """
    if isinstance(value, str) and len(value) > 2 * most:
        value = value[:most] + value[-most:]  # what lies between is not seen anyway
    return _without_middle(repr(value), most)


def visible(text: str) -> str:
    """A text that cannot command a terminal: control characters stand there as escapes.

    >>> visible("a\\x1b[1m") == "a" + chr(92) + "x1b[1m"
    True
    """
    return escaped(text, lambda unseen: repr(unseen)[1:-1])


def escaped(text: str, escape: Callable[[str], str]) -> str:
    """The text with what ``escape`` makes of every control character."""
    return _UNSEEN.sub(lambda found: escape(found[0]), text)


def message(before: str, detail: object = "", after: str = "") -> str:
    """A message of at most 300 characters in one line; the detail is cut off if it is too long."""
    before, after = visible(before), visible(after)
    text = " ".join(visible(str(detail)).split())
    room = max(1, LONGEST_MESSAGE - len(before) - len(after))
    if len(text) > room:
        text = f"{text[: room - 1]}…"
    return f"{before}{text}{after}"[:LONGEST_MESSAGE]


def _without_middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def duration(seconds: float) -> str:
    """A time in words, to the second.

    >>> duration(4.2), duration(75), duration(7260)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{left} s"
