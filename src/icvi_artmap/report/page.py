"""From facts to HTML: fills in the template, and forbids the page to load anything."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi_artmap._support.colours import style as look_of
from icvi_artmap._support.wording import (
    ARROWS,
    arrow,
    better,
    counted,
    fixed,
    listed,
    number,
    percent,
    short_percent,
    shortened,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

#: Standardised means beyond STRONGEST have the strongest of the SHADES.
STRONGEST, SHADES = 2.0, 6
#: Where a name without blanks may be broken.
WORD_ENDS = re.compile(r"(?<=[_/.,:;|+=-])(?=[^_/.,:;|+=-])|(?<=[a-z])(?=[A-Z])")
#: The longest part of a name in a head that is not cut.
LONGEST_WORD = 22
#: The scripts of the page, each of which uses those before it.
SCRIPTS = ("theme.js", "tables.js", "numbers.js", "marks.js", "map.js", "report.js")


def render(k: int, **facts: Any) -> str:
    """The page on k clusters."""
    from markupsafe import Markup

    folder = files("icvi_artmap.report").joinpath("templates")
    style = folder.joinpath("report.css").read_text(encoding="utf-8")
    script = "\n".join(folder.joinpath(f).read_text(encoding="utf-8") for f in SCRIPTS)
    swatches = "".join(f".c{i}{{--c:{look_of(i).colour}}}" for i in range(k))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src {_hash(style)} {_hash(swatches)}",
            f"script-src {_hash(script)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    points = facts.pop("points_json")
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            policy=policy,
            style=Markup(style),
            swatches=Markup(swatches),
            script=Markup(script),
            points_json=Markup(points),
            k=k,
            **facts,
        )
    )


def environment() -> Environment:
    """Jinja2 that escapes everything and refuses unknown names."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "A report needs jinja2: pip install jinja2, or pip install 'icvi-artmap[report]'."
        ) from error

    made = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("icvi_artmap.report"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    words = (
        arrow,
        better,
        counted,
        exact,
        fixed,
        listed,
        number,
        percent,
        shade,
        short_percent,
        signed,
    )
    made.filters |= {word.__name__: word for word in words}
    made.filters["head"] = head
    made.globals["arrows"] = ARROWS
    return made


def head(name: str) -> Markup:
    """A name as a head, which may be broken between words, and else not.

    Words end behind a separator, and before a capital within small letters. One that is too long is
    cut; the title of the head has the whole name.
    """
    from markupsafe import Markup, escape

    def with_breaks(text: str) -> Markup:
        words = (escape(shortened(word, LONGEST_WORD)) for word in WORD_ENDS.split(text))
        return Markup("<wbr>").join(words)

    return Markup(" ").join(with_breaks(text) for text in name.split())


def exact(value: float) -> str:
    """All digits, as JavaScript reads them, for sorting."""
    value = float(value)
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def signed(value: float) -> str:
    """Two places, with a sign unless they are zeros."""
    text = fixed(value, 2)
    return f"+{text}" if value > 0.0 and text != "0.00" else text


def shade(value: float) -> str:
    """The CSS class of a cell's colour: below or above the mean, and how far."""
    step = round(min(abs(value) / STRONGEST, 1.0) * SHADES)
    return "" if step == 0 else f"{'above' if value > 0 else 'below'}-{step}"


def _hash(text: str) -> str:
    """The hash by which a content security policy names the text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
