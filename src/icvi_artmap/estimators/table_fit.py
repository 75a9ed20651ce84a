"""A fit on a table that was read from a file, whose columns have names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.callbacks import Watch, watching
from icvi_artmap._support.progress import warnings_as_notes
from icvi_artmap.estimators.fitted import rows_of
from icvi_artmap.estimators.numbering import number_by_size
from icvi_artmap.estimators.preparing import cautions

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.tables import Table


def fit_table(
    model: ICVIARTMAP, table: Table, watch: Watch
) -> tuple[list[str], NDArray[np.floating]]:
    """Fit the model.

    Returns remarks on the data and on the fit that the result does not make, and the rows as the
    methods of ``fitted_`` take them.
    """
    notes = list(table.notes)
    with warnings_as_notes(notes), watching(watch):
        model.fit(table.cells())
    number_by_size(model)  # also without refinement, where a fit leaves the numbers alone
    notes = [note for note in notes if note not in model.cautions_]  # the result says it
    if hasattr(model, "selection_") and (doubt := model.selection_.doubt()) in notes:
        notes.remove(str(doubt))  # the result says it in other words
    rows = rows_of(model, table.cells())
    model.feature_names_in_ = np.array(table.columns, dtype=object)
    model.cautions_ = tuple(cautions(model, rows))  # with these names
    return notes, rows
