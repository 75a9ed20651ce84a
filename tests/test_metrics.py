"""Indices of any clustering: by hand, against scikit-learn, cvi and the oracle."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sklearn.metrics import calinski_harabasz_score

import oracle
from helpers.partitions import labelled
from icvi_artmap import ICVIARTMAP, metrics
from icvi_artmap.indices.conn import IncrementalConn, conn_index_of
from icvi_artmap.indices.pcaes import IncrementalPCAES, pcaes_of
from icvi_artmap.indices.registry import INDICES

FUNCTIONS = {name: getattr(metrics, f"{name.lower()}_index") for name in INDICES}
INF = math.inf


# --- functions of the moments --------------------------------------------------------------------


def test_there_is_a_function_for_every_index() -> None:
    expected = {f"{name.lower()}_index" for name in INDICES} | {"pcaes_index", "conn_index"}
    assert set(metrics.__all__) == expected
    assert len(expected) == 14
    for name, index in INDICES.items():
        arrow = "↑" if index.direction > 0 else "↓"
        assert arrow in FUNCTIONS[name].__doc__.splitlines()[0]


@pytest.mark.parametrize("name", list(INDICES))
def test_values_equal_the_oracle(name: str) -> None:
    """Of the data as they are, whatever their type and the names of the clusters."""
    X, labels = labelled("blobs", 40, 3, 4, 0)
    expected = oracle.INDICES[name.lower()](X, labels)
    assert FUNCTIONS[name](X, labels) == pytest.approx(expected, rel=1e-9)
    names = np.array(["b", "a", "d", "c"])[labels]
    assert FUNCTIONS[name](X.tolist(), names) == pytest.approx(expected, rel=1e-9)
    assert FUNCTIONS[name](np.asfortranarray(X), labels) == pytest.approx(expected, rel=1e-9)


def test_ch_equals_that_of_scikit_learn() -> None:
    for seed in range(5):
        X, labels = labelled("offset", 60, 4, 5, seed)
        assert metrics.ch_index(X, labels) == pytest.approx(calinski_harabasz_score(X, labels))


@pytest.mark.parametrize("name", list(INDICES))
def test_bad_partitions(name: str) -> None:
    X = [[0.0], [1.0], [10.0], [11.0]]
    assert FUNCTIONS[name](X, [0, 0, 0, 0]) == -INDICES[name].direction * INF
    with pytest.raises(ValueError, match="NaN"):
        FUNCTIONS[name]([[0.0], [np.nan], [1.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        FUNCTIONS[name](X, [0, 1, 1])


def test_values_of_cvi() -> None:
    """docs/indices.md says what is defined otherwise there."""
    cvi = pytest.importorskip("cvi", reason="cvi is not installed: pip install cvi")
    X, labels = labelled("blobs", 60, 3, 4, 1)
    value = {
        name: float(getattr(cvi, name)().get_cvi(X, labels))
        for name in ("CH", "WB", "XB", "DB", "PS", "GD43", "GD53", "cSIL", "rCIP")
    }
    for name in ("CH", "WB", "XB", "DB", "PS"):
        assert FUNCTIONS[name](X, labels) == pytest.approx(value[name], rel=1e-9)
    assert metrics.sil_index(X, labels) == pytest.approx(value["cSIL"], rel=1e-9)
    assert metrics.rcip_index(X, labels) == pytest.approx(math.log(value["rCIP"]), rel=1e-9)
    p = oracle.indices.describe(X, labels)
    widest = 2.0 * (p.CP / p.n).max()
    assert value["GD43"] == pytest.approx(math.sqrt(p.centre_distances.min()) / widest, rel=1e-9)
    i, j = p.pairs
    own = (p.CP[i] + p.CP[j]) / (p.n[i] + p.n[j])
    assert value["GD53"] == pytest.approx(own.min() / widest, rel=1e-9)


# --- PCAES ---------------------------------------------------------------------------------------


def test_pcaes_by_hand() -> None:
    # Centres 0.5 and 10.5 about 5.5: β = 25, and 100 / 25 = 4; sizes are equal.
    X = [[0.0], [1.0], [10.0], [11.0]]
    assert metrics.pcaes_index(X, [0, 0, 1, 1]) == pytest.approx(2 - 2 * math.exp(-4))
    # Three samples and one: centres 1 and 10, the mean 13/4: β = (81/16 + 729/16) / 2.
    X = [[0.0], [1.0], [2.0], [10.0]]
    beta = (81 + 729) / 32
    expected = 1 + 1 / 3 - 2 * math.exp(-81 / beta)
    assert metrics.pcaes_index(X, ["b", "b", "b", "a"]) == pytest.approx(expected)
    # Memberships ½: squares ¼. Centres (0 + ¼·2)/(5/4) = 0.4 and 1.6, mean 1, β = 0.36.
    fuzzy = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    X = [[0.0], [2.0], [1.0]]
    centres = np.array([0.5, 1.5]) / 1.25
    beta = np.square(centres - 1.0).mean()
    expected = 2 - 2 * math.exp(-((centres[1] - centres[0]) ** 2) / beta)
    assert metrics.pcaes_index(X, fuzzy) == pytest.approx(expected)


def test_pcaes_where_the_formula_breaks() -> None:
    X = [[0.0], [1.0], [0.0], [1.0]]
    assert metrics.pcaes_index(X, [0, 0, 0, 0]) == -INF
    assert metrics.pcaes_index(X, [0, 0, 1, 1]) == 0.0  # nothing is separated
    assert metrics.pcaes_index([[3.0]] * 4, [0, 0, 1, 1]) == 0.0
    assert math.isfinite(metrics.pcaes_index(X, [0, 1, 2, 3]))
    with pytest.raises(ValueError, match="not negative"):
        metrics.pcaes_index(X, [[1.0, -1.0]] * 4)
    with pytest.raises(ValueError, match="NaN"):
        metrics.pcaes_index([[0.0], [np.nan]], [0, 1])
    found = IncrementalPCAES()
    assert found.value == -INF
    for wrong, problem in [
        (lambda: found.add([np.nan], 0), "NaN"),
        (lambda: found.add([], 0), "some numbers"),
        (lambda: found.add([1.0], {0: 0.0}), "positive"),
        (lambda: found.add([1.0], {0: -1.0}), "positive"),
        (lambda: found.remove([1.0], 0), "No cluster 0"),
        (lambda: found.merge(0, 1), "No cluster 0"),
    ]:
        with pytest.raises(ValueError, match=problem):
            wrong()
    found.add([1.0, 2.0], 0)
    with pytest.raises(ValueError, match="2 numbers"):
        found.add([1.0], 0)
    with pytest.raises(ValueError, match="itself"):
        found.merge(0, 0)


class PCAESMachine(RuleBasedStateMachine):
    """Any sequence of samples that come, go and change, and of merges."""

    offset: ClassVar[float] = 1e3

    def __init__(self) -> None:
        super().__init__()
        self.found = IncrementalPCAES()
        self.samples: list[tuple[np.ndarray, dict[int, float]]] = []

    def drawn(self, data: st.DataObject) -> Any:
        """A label, or memberships in some clusters."""
        some = st.dictionaries(st.integers(0, 3), st.sampled_from([0.25, 0.5, 1.0]), min_size=1)
        return data.draw(st.one_of(st.integers(0, 3), some), label="label")

    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        x = data.draw(st.lists(st.integers(-5, 5), min_size=2, max_size=2), label="x")
        row, label = self.offset + np.array(x, float), self.drawn(data)
        self.found.add(row, label)
        self.samples.append((row, label if isinstance(label, dict) else {label: 1.0}))

    def pick(self, data: st.DataObject) -> tuple[np.ndarray, dict[int, float]]:
        return self.samples.pop(data.draw(st.integers(0, len(self.samples) - 1), label="sample"))

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        self.found.remove(*self.pick(data))

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        row, source = self.pick(data)
        target = self.drawn(data)
        self.found.move(row, source, target)
        self.samples.append((row, target if isinstance(target, dict) else {target: 1.0}))

    @precondition(lambda self: len(self.found.labels) > 1)
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        a, b = data.draw(st.permutations(self.found.labels), label="clusters")[:2]
        self.found.merge(a, b)
        for _, u in self.samples:
            if b in u:
                u[a] = u.get(a, 0.0) + u.pop(b)

    @invariant()
    def equals_the_batch_value(self) -> None:
        labels = sorted({label for _, u in self.samples for label in u})
        assert sorted(self.found.labels) == labels
        assert self.found.n_samples == len(self.samples)
        if self.samples:
            X = np.array([x for x, _ in self.samples])
            U = np.array([[u.get(i, 0.0) for i in labels] for _, u in self.samples])
            expected = oracle.indices.pcaes(X, U)
            assert self.found.value == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert pcaes_of(X, U) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_any_sequence_for_pcaes() -> None:
    run_state_machine_as_test(PCAESMachine, settings=settings(stateful_step_count=25))


# --- conn_index ----------------------------------------------------------------------------------

#: Samples as best and second best categories: a and b in one cluster, c and d in the other.
LINKED = [("a", "b")] * 3 + [("b", "a")] * 2 + [("b", "c")] + [("c", "d")] * 4 + [("d", "c")] * 2
CLUSTERS = {"a": 0, "b": 0, "c": 1, "d": 1}
#: Intra: 5/6 and 1. Border of 0: b, with CONN 1 to c and 5 to a; of 1: c, with 1 to b and 6 to d.
LINKED_VALUE = (5 / 6 + 1) / 2 * (1 - (1 / 6 + 1 / 7) / 2)


def counted(samples: list[tuple[Any, Any]], clusters: dict[Any, Any]) -> IncrementalConn:
    found = IncrementalConn()
    for first, second in samples:
        found.add(first, second, clusters[first])
    return found


def test_conn_index_by_hand() -> None:
    found = counted(LINKED, CLUSTERS)
    assert found.value == pytest.approx(LINKED_VALUE, rel=1e-12)
    assert oracle.indices.conn_index(LINKED, CLUSTERS) == pytest.approx(LINKED_VALUE, rel=1e-12)
    number = {name: i for i, name in enumerate(CLUSTERS)}
    first, second = np.array([[number[p], number[q]] for p, q in LINKED]).T
    batch = conn_index_of(first, second, np.array(list(CLUSTERS.values())))
    assert batch == pytest.approx(LINKED_VALUE, rel=1e-12)


def test_conn_index_where_it_breaks() -> None:
    found = IncrementalConn()
    assert found.value == -INF
    found.add("a", None, 0)  # the only category that there is
    assert found.value == -INF
    found.add("b", "a", 1)
    assert found.value == 0.0  # of singletons every connection goes elsewhere
    for wrong, problem in [
        (lambda: found.add("a", "a", 0), "another than 'a'"),
        (lambda: found.add("a", "b", 1), "belongs to cluster 0, not to 1"),
        (lambda: found.remove("a", "b"), "No sample has the categories"),
        (lambda: found.reassign("z", 0), "'z' has no samples"),
        (lambda: found.merge(0, 2), "No cluster 2"),
        (lambda: found.merge(0, 0), "itself"),
    ]:
        with pytest.raises(ValueError, match=problem):
            wrong()
    found.merge(0, 1)
    assert found.value == -INF
    assert found.labels == [0]


class ConnMachine(RuleBasedStateMachine):
    """Any sequence of samples that come, go and move, and of clusters that change."""

    CATEGORIES: ClassVar[str] = "abcde"

    def __init__(self) -> None:
        super().__init__()
        self.found = IncrementalConn()
        self.samples: list[tuple[Any, Any]] = []
        self.cluster: dict[Any, Any] = {}

    def drawn(self, data: st.DataObject) -> tuple[Any, Any, Any]:
        first = data.draw(st.sampled_from(self.CATEGORIES), label="first")
        others = [None, *self.CATEGORIES.replace(first, "")]
        second = data.draw(st.sampled_from(others), label="second")
        known = any(p == first for p, _ in self.samples)
        label = self.cluster[first] if known else data.draw(st.integers(0, 2), label="label")
        return first, second, label

    def note(self, first: Any, second: Any, label: Any) -> None:
        self.samples.append((first, second))
        self.cluster[first] = label

    def pick(self, data: st.DataObject) -> tuple[Any, Any]:
        return self.samples[data.draw(st.integers(0, len(self.samples) - 1), label="sample")]

    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        sample = self.drawn(data)
        self.found.add(*sample)
        self.note(*sample)

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        sample = self.pick(data)
        self.found.remove(*sample)
        self.samples.remove(sample)

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        source = self.pick(data)
        first, second, label = self.drawn(data)
        self.found.move(source, (first, second), label)
        self.note(first, second, label)
        self.samples.remove(source)

    @precondition(lambda self: self.samples)
    @rule(data=st.data(), label=st.integers(0, 2))
    def reassign(self, data: st.DataObject, label: int) -> None:
        category, _ = self.pick(data)
        self.found.reassign(category, label)
        self.cluster[category] = label

    @precondition(lambda self: len(self.found.labels) > 1)
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        a, b = data.draw(st.permutations(self.found.labels), label="clusters")[:2]
        self.found.merge(a, b)
        self.cluster = {p: a if label == b else label for p, label in self.cluster.items()}

    @invariant()
    def equals_the_batch_value(self) -> None:
        assert self.found.n_samples == len(self.samples)
        expected = oracle.indices.conn_index(self.samples, self.cluster)
        assert self.found.value == pytest.approx(expected, rel=1e-12, abs=1e-12)
        if self.samples:
            # Categories that are best for no sample belong to no cluster.
            best = {p for p, _ in self.samples}
            codes = [self.cluster[p] if p in best else 3 for p in self.CATEGORIES]
            number = {p: i for i, p in enumerate(self.CATEGORIES)} | {None: -1}
            first, second = np.array([[number[p], number[q]] for p, q in self.samples]).T
            batch = conn_index_of(first, second, np.array(codes))
            assert batch == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_any_sequence_for_conn_index() -> None:
    run_state_machine_as_test(ConnMachine, settings=settings(stateful_step_count=25))


def test_conn_index_of_data() -> None:
    """Clusters that are apart are better than any that are cut through."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = 10.0 * np.array([[0, 0], [1, 0], [0, 1]])[y] + rng.normal(size=(180, 2))
    right = metrics.conn_index(X, y)
    cut = metrics.conn_index(X, np.where((y == 0) & (X[:, 0] > 0), 3, y))
    assert 0.0 <= cut < right <= 1.0
    assert metrics.conn_index(X, np.array(["x", "y", "z"])[y]) == right
    assert metrics.conn_index(X, np.zeros(180)) == -INF


@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_conn_index_over_the_categories_of_a_network(rho: float) -> None:
    X, _ = labelled("blobs", 60, 2, 3, 0)
    model = ICVIARTMAP(3, index="CH", rho_a=rho, random_state=0).fit(X)
    found = metrics.conn_index(X, model.labels_, network=model)
    # The same from the choice values themselves.
    boxes, label = model.fitted_.boxes, model.category_labels_
    m = model.fitted_.scaling.min_max(X)
    coded = np.hstack([m, 1.0 - m])
    choice = np.minimum(coded[:, None], boxes).sum(axis=2) / (model.alpha + boxes.sum(axis=1))
    samples = []
    for values, own in zip(choice, model.labels_, strict=True):
        first = int(np.where(label == own, values, -INF).argmax())
        second = max((c for c in range(len(boxes)) if c != first), key=lambda c: values[c])
        samples.append((first, second))
    expected = oracle.indices.conn_index(samples, dict(enumerate(label)))
    assert found == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="no category for some of the labels"):
        metrics.conn_index(X, model.labels_ + 5, network=model)


def test_monitors_agree_with_the_functions() -> None:
    X, labels = labelled("normal", 40, 3, 4, 3)
    found = IncrementalPCAES()
    for x, label in zip(X, labels, strict=True):
        found.add(x, int(label))
    assert found.value == pytest.approx(metrics.pcaes_index(X, labels), rel=1e-9)
    every = np.eye(4)[labels]
    assert metrics.pcaes_index(X, every) == pytest.approx(found.value, rel=1e-9)
