"""What a notebook shows of a fitted estimator: scikit-learn's diagram, below it a short table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from icvi_artmap._support.wording import counted, number, short_percent, shortened

#: The largest numbers of clusters and of features in the table; a line below tells of the others.
ROWS, FEATURES = 12, 5
#: Names longer than this are shortened.
NAME_LENGTH = 24


@dataclass
class Summary:
    """A fitted estimator in a few numbers: facts, and a row for every cluster or class."""

    facts: dict[str, str]
    kind: str  #: "cluster" or "class"
    names: Sequence[Any]  #: one for every row
    columns: dict[str, Sequence[str]]  #: heading and one entry for every row
    left_out: list[str] = field(default_factory=list)  #: what is not shown

    def to_html(self) -> str:
        """Two tables. All text is escaped: names of features and classes come from the data."""
        lines = ['<div class="icvi-artmap-summary" style="overflow-x:auto">']
        lines.append('<table style="border-collapse:collapse"><tbody>')
        for name, text in self.facts.items():
            lines.append(
                f"<tr>{_cell('th', name, 'row', 'left')}{_cell('td', text, align='left')}</tr>"
            )
        lines.append("</tbody></table>")
        lines.append('<table style="border-collapse:collapse;margin-top:0.5em"><thead><tr>')
        lines.append(_cell("th", self.kind, "col", "left"))
        lines += [_cell("th", heading, "col") for heading in self.columns]
        lines.append("</tr></thead><tbody>")
        for i, name in enumerate(self.names[:ROWS]):
            entries = "".join(_cell("td", column[i]) for column in self.columns.values())
            lines.append(
                f"<tr>{_cell('th', shortened(name, NAME_LENGTH), 'row', 'left')}{entries}</tr>"
            )
        lines.append("</tbody></table>")
        left_out = list(self.left_out)
        if len(self.names) > ROWS:
            rest = len(self.names) - ROWS
            left_out.insert(0, counted(rest, f"more {self.kind}"))
        if left_out:
            lines.append(f"<p>… and {escape(', '.join(left_out))}</p>")
        return "".join([*lines, "</div>"])


class SummarisedEstimator(BaseEstimator):
    """An estimator whose notebook output ends with a summary once it is fitted."""

    def _summary(self) -> Summary | None:
        """The summary to show; None before the fit."""
        return None

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._summary_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # not if scikit-learn is set to show text
            # Replace the text: scikit-learn may or may not have called _repr_html_inner already.
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _summary_html(self) -> str:
        summary = self._summary()
        return "" if summary is None else summary.to_html()


def sizes(labels: NDArray[np.int64], n_clusters: int) -> dict[str, Sequence[str]]:
    """Columns with the size of every cluster, and its share of all samples."""
    counts = np.bincount(labels, minlength=n_clusters)
    total = max(int(counts.sum()), 1)
    return {
        "samples": [f"{count:,}" for count in counts],
        "share": [short_percent(count / total) for count in counts],
    }


def centres(
    values: NDArray[np.float64], names: Sequence[str] | None
) -> tuple[dict[str, Sequence[str]], list[str]]:
    """Columns with the means of the first features, and a note on the features left out."""
    d = values.shape[1]
    columns: dict[str, Sequence[str]] = {}
    for f in range(min(d, FEATURES)):
        heading = f"mean of {shortened(f'feature {f}' if names is None else names[f], NAME_LENGTH)}"
        if heading in columns:  # the same name twice, or two names that are the same when shortened
            heading += f" ({f})"
        columns[heading] = [number(value) for value in values[:, f]]
    rest = d - FEATURES
    return columns, [counted(rest, "more feature")] if rest > 0 else []


def _cell(tag: str, text: str, scope: str = "", align: str = "right") -> str:
    scope = f' scope="{scope}"' if scope else ""
    return f'<{tag}{scope} style="text-align:{align};padding:0.1em 0.6em">{escape(text)}</{tag}>'
