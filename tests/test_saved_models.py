"""Models that last: files written by former versions load and predict what they predicted then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from icvi_artmap import load
from saved import write

FOLDER = Path(write.__file__).parent
FILES = sorted(FOLDER.glob("*/*.icvi"))


def test_there_are_files_of_the_first_version():
    names = {path.stem for path in FILES if path.parent.name == "0.1.0"}
    assert names == {
        "artmap",
        "ch-traced",
        "chosen",
        "db",
        "dual",
        "fuzzy-art",
        "ni",
        "own",
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_former_version_loads(path):
    model = load(path, index=write.spread if path.stem == "own" else None)
    with np.load(path.parent / "predictions.npz") as predictions:
        expected = predictions[path.stem]
    np.testing.assert_array_equal(model.predict(write.new_rows()).astype(str), expected)
    assert len(model.sample_categories_) == len(write.rows())
    if path.stem == "chosen":
        assert model.selection_.n_clusters == model.n_clusters_
    if path.stem == "ch-traced":
        assert len(model.index_trace_) == model.n_iter_ * len(write.rows())
