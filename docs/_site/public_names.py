"""The page of public names, written from ``__all__``: a new name cannot be forgotten."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

import icvi_artmap
from icvi_artmap import datasets, deep, distributed, metrics, streaming

#: Not imported from the top: attributes of what was fitted, and monitors that need more than
#: moments.
RESULTS = (
    "icvi_artmap.estimators.components.Components",
    "icvi_artmap.estimators.components.Joins",
    "icvi_artmap.estimators.fitted.FittedModel",
    "icvi_artmap.estimators.vigilance_search.results.SearchResults",
    "icvi_artmap.indices.conn.IncrementalConn",
    "icvi_artmap.indices.pcaes.IncrementalPCAES",
    "icvi_artmap.preparation.preparation.Preparation",
    "icvi_artmap.training.number_of_clusters.Selection",
    "icvi_artmap.training.run.Vigilances",
    "icvi_artmap.training.stream.Drift",
)

#: Constants have no docstrings, and Sphinx would print all of their values.
CONSTANTS = {
    "icvi_artmap.datasets.PAPER_SETS": "dict from the name of a set of the paper to its numbers of "
    "samples, features and classes and its checksum",
    "icvi_artmap.datasets.REAL": "tuple of the names of the real ones",
    "icvi_artmap.datasets.SYNTHETIC": "tuple of the names of the synthetic ones",
}

HEAD = """\
API
===

.. currentmodule:: icvi_artmap

What is listed here is meant to be used and keeps its meaning from one version to the next but for
what the changelog says. Everything is imported from ``icvi_artmap``, data sets from
``icvi_artmap.datasets``, deep latents from ``icvi_artmap.deep``, indices of any clustering from
``icvi_artmap.metrics``, monitors of streams from ``icvi_artmap.streaming``, what works on Dask from
``icvi_artmap.distributed``.
"""


def kind(name: str, thing: Any) -> str:
    """The heading that a public name belongs under."""
    if not callable(thing):
        raise TypeError(f"{name} is neither a class nor a function: see CONSTANTS")
    if inspect.isclass(thing):
        if issubclass(thing, BaseEstimator):
            return "Estimators"
        if issubclass(thing, BaseException):
            return "Errors and warnings"
        return "Pictures" if name.endswith("Display") else "Results and tables"
    return "Functions"


def sections() -> dict[str, list[str]]:
    """Full names under their headings."""
    found: dict[str, list[str]] = {
        "Estimators": [],
        "Functions": [],
        "Results and tables": list(RESULTS),
        "Pictures": [],
        "Errors and warnings": [],
    }
    for name in icvi_artmap.__all__:
        found[kind(name, getattr(icvi_artmap, name))].append(f"icvi_artmap.{name}")
    found["Streams"] = [f"icvi_artmap.streaming.{name}" for name in streaming.__all__]
    found["Deep latents"] = [f"icvi_artmap.deep.{name}" for name in deep.__all__]
    found["On Dask"] = [f"icvi_artmap.distributed.{name}" for name in distributed.__all__]
    found["Data sets"] = [f"icvi_artmap.datasets.{name}" for name in datasets.__all__]
    found["Indices of any clustering"] = [f"icvi_artmap.metrics.{name}" for name in metrics.__all__]
    return {heading: names for heading, names in found.items() if names}


def page() -> str:
    """The page, with a table of names under every heading."""
    parts = [HEAD]
    for heading, names in sections().items():
        parts.append(f"{heading}\n{'-' * len(heading)}\n")
        parts.append(".. autosummary::\n   :toctree: .\n   :nosignatures:\n")
        callables = [name for name in names if name not in CONSTANTS]
        parts += [f"   ~{name.removeprefix('icvi_artmap.')}" for name in callables]
        parts.append("")
        for name in names:
            if name in CONSTANTS:
                parts.append(f".. py:data:: {name}\n\n   {CONSTANTS[name]}\n")
    return "\n".join(parts)


def write(path: Path) -> None:
    """Write the page, if it would change: Sphinx reads again what is newer than it was."""
    text = page()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
