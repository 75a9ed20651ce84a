"""Whether two models are the same to the last bit."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np

from icvi_artmap.indices.base import Index
from icvi_artmap.training.art_family import ClusterNetwork


def assert_same(a: Any, b: Any, where: str = "model") -> None:
    """Equal to the last bit, types included."""
    if isinstance(a, np.ndarray):
        assert isinstance(b, np.ndarray), where
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes(), where
    elif isinstance(a, ClusterNetwork):  # how much room it has makes no difference
        n = a.n_categories
        assert_same(a.rows, b.rows, where)
        assert_same(a.network.boxes.cells, b.network.boxes.cells, where)
        assert_same(a.network.boxes.value[0, :n], b.network.boxes.value[0, :n], where)
        assert_same(a.network.boxes.bins[:n], b.network.boxes.bins[:n], where)
        assert_same(a.map_field, b.map_field, where)
        assert_same(a.category_clusters, b.category_clusters, where)
        assert_same(a.clusters.size, b.clusters.size, where)
    elif isinstance(a, tuple):
        assert type(a) is type(b), where
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert_same(tuple(a.items()), tuple(b.items()), where)
    elif is_dataclass(a) and not isinstance(a, Index):
        assert_same(tuple(vars(a).values()), tuple(vars(b).values()), where)
    else:
        assert type(a) is type(b), where
        assert a == b, where


def assert_same_model(model: Any, twin: Any) -> None:
    assert type(twin) is type(model)
    mine, other = vars(model), vars(twin)
    assert mine.keys() == other.keys()
    parameters = model.get_params(deep=False)
    for name in mine.keys() - parameters.keys():
        assert_same(mine[name], other[name], name)
    for name, value in twin.get_params(deep=False).items():
        if name == "feature_range" and value is not None:
            pairs = zip(value, parameters[name], strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs)
        else:
            assert (
                np.array_equal(value, parameters[name])
                if name == "init"
                else (value == parameters[name])
            ), name
