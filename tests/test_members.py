"""Boxes stay those of their samples while samples come and go (Eq:shrinkage)."""

from __future__ import annotations

import numpy as np
import pytest

from icvi_artmap._compile.jit import jit
from icvi_artmap.network import boxes as box
from icvi_artmap.network import members as mem
from icvi_artmap.samples.scaling import coded_row, plain_data

pytestmark = pytest.mark.nojit


@jit
def go(data, boxes, members, s, c, x):
    """Sample s leaves its category for c."""
    left = members.category[s]
    coded_row(data, s, x)
    box.learn(boxes, c, x, 1.0)
    mem.leave(members, s)
    mem.join(members, data, s, c, x)
    mem.shrink(boxes, members, data, left, x)


@jit
def grow_or_bury(boxes, c, x):
    """Box c learns x, or is removed if that was what it was made of."""
    if not box.learn(boxes, c, x, 1.0):
        box.bury(boxes, c)


@jit
def near(boxes, x, own, distance, smallest, alpha, most):
    return box.find_near(boxes, x, own, distance, smallest, alpha, most, False)


def spanned(table: np.ndarray, category: np.ndarray, c: int) -> np.ndarray:
    """The AND of the complement coded samples of a category."""
    own = table[category == c]
    return np.hstack([own.min(axis=0), (1.0 - own).min(axis=0)])


@pytest.mark.parametrize("kind", ["continuous", "grid"])
@pytest.mark.parametrize(("n_features", "reserve"), [(2, 8), (2, 2), (2, 3), (70, 8)])
def test_boxes_are_those_of_their_samples(
    kind: str, n_features: int, reserve: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small reserve overflows and is used up more often; with 70 features there is none."""
    monkeypatch.setattr(mem, "RESERVE", reserve)
    monkeypatch.setattr(mem, "TOGETHER", 16)  # categories are larger than this
    rng = np.random.default_rng(0)
    n_samples, k = 120, 3
    table = rng.random((n_samples, n_features))
    if kind == "grid":
        table = np.round(table, 1)
    labels = rng.integers(0, k, n_samples)
    data = plain_data(table, np.ones(n_features), np.zeros(n_features))
    centres = np.hstack([np.full((k, n_features), 0.5), np.full((k, n_features), 0.5)])
    boxes = box.make_boxes(centres, 64, box.choose_bins(table))
    members = mem.make_members(labels, len(boxes.found), n_features)
    x = np.empty(2 * n_features)
    touched = set()
    # Mostly the samples next to a bound move, to and fro: they fill and use up its reserve.
    outer = table[:, 0].argsort()[:30]
    for step in range(1500):
        s = rng.choice(outer) if step % 4 else rng.integers(n_samples)
        source = int(members.category[s])
        if members.held[source] < 2:
            continue
        target = (source + 1 + step % (k - 1)) % k
        go(data, boxes, members, int(s), target, x)
        touched.add(source)
        for c in touched:
            expected = spanned(table, members.category, c)
            np.testing.assert_array_equal(boxes.weight[c], expected)
            np.testing.assert_array_equal(boxes.component[:, c], expected)
    assert touched == set(range(k))
    for c in range(k):
        assert members.held[c] == np.count_nonzero(members.category == c)


def test_bins_rise_and_hold_equally_many_samples() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.beta(2, 9, 50_000), np.zeros(50_000), rng.random(50_000)])
    sample = table[box.BIN_SAMPLES]
    cells = box.choose_bins(sample)
    assert cells.max() == box.BINS - 1
    assert (np.diff(cells.astype(int), axis=1) >= 0).all()
    cell = (sample * box.CELLS).astype(int)
    for f in (0, 2):
        share = np.bincount(cells[f, cell[:, f]], minlength=box.BINS) / len(sample)
        assert share.max() < 2.0 / box.BINS


@pytest.mark.parametrize("n_features", [2, 10, 40])
def test_no_near_box_is_missed(n_features: int) -> None:
    """Whatever the distance: by bins, or by bytes where it is large."""
    rng = np.random.default_rng(n_features)
    table = np.clip(rng.normal(0.5, 0.15, (700, n_features)), 0.0, 1.0)
    coded = np.hstack([table, 1.0 - table])
    boxes = box.make_boxes(coded[:600], 700, box.choose_bins(table))
    for c in range(600):
        for _ in range(n_features):
            if boxes.value[box.NORM, c] > 0.0:
                grow_or_bury(boxes, c, coded[c if c % 7 == 0 else rng.integers(600)])
    weight, norm = boxes.weight[:600], boxes.value[box.NORM, :600]
    alive = norm > 0.0
    found_far = farther = in_all = 0
    for s in range(600, 700, 7):
        x, own = coded[s], int(rng.choice(np.flatnonzero(alive)))
        away = np.maximum(weight - x, 0.0).sum(axis=1)
        for distance in (0.0, 0.01, 0.09, 0.11, 0.3, 0.99, 1.5, 0.3 * n_features):
            for smallest in (0.0, float(np.median(norm[alive]))):
                count = near(boxes, x, own, distance, smallest, 1e-3, 600)
                found = boxes.found[:count].tolist()
                wanted = alive & (away <= distance) & (norm >= smallest)
                wanted[own] = True
                assert found[0] == own
                assert len(set(found)) == count
                assert set(np.flatnonzero(wanted)) <= set(found)
                assert alive[found].all()
                farther += np.count_nonzero(away[found[1:]] > distance)
                in_all += alive.sum()
                found_far += box.FAR <= distance < 1.0 and count > 1
    assert found_far > 0
    assert farther < 0.1 * in_all
