"""From facts to HTML: what the template is given, and what keeps the page closed to the world."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi_artmap.report.reading import number, percent

if TYPE_CHECKING:
    from jinja2 import Environment

#: Standardised means beyond this have the strongest colour; so many shades lead there.
STRONGEST, SHADES = 2.0, 6


def render(colours: list[str], **facts: Any) -> str:
    """The page."""
    from markupsafe import Markup

    folder = files("icvi_artmap.report").joinpath("templates")
    style = folder.joinpath("report.css").read_text(encoding="utf-8")
    script = folder.joinpath("report.js").read_text(encoding="utf-8")
    swatches = "".join(f".c{i}{{--c:{colour}}}" for i, colour in enumerate(colours))
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
            **facts,
        )
    )


def environment() -> Environment:
    """Jinja2 with everything escaped, and names that must exist."""
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
    made.filters |= {
        "number": number,
        "percent": percent,
        "exact": exact,
        "shade": shade,
        "signed": signed,
    }
    return made


def exact(value: float) -> str:
    """All digits, for sorting, as JavaScript reads them."""
    value = float(value)
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def signed(value: float) -> str:
    """Two places, with a sign unless they are zeros."""
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def shade(value: float) -> str:
    """Class of a cell's colour: below the mean, above it, and how far."""
    step = round(min(abs(value) / STRONGEST, 1.0) * SHADES)
    return "" if step == 0 else f"{'above' if value > 0 else 'below'}-{step}"


def _hash(text: str) -> str:
    """The text as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
