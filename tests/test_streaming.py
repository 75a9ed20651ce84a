"""A monitor has the value that the samples have which are in it, whatever has happened before."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

import oracle
from helpers.own_indices import ALL, batch, every_index, longest, widest
from helpers.partitions import KINDS, labelled
from icvi_artmap.indices.registry import INDICES, NAMES
from icvi_artmap.streaming import IncrementalIndex
from oracle.weighted import WEIGHTED, Weighted, forgetting_weights

LABELS = ("a", 1, (2, "b"), None, 4.5, False)


def close(found: float | None, expected: float, rel: float = 1e-9) -> bool:
    if found is None:
        return False
    return found == expected or math.isclose(found, expected, rel_tol=rel, abs_tol=1e-9)


class Operations(RuleBasedStateMachine):
    """All operations in any order, beside a plain list of samples and labels."""

    indices = ALL
    d = 2

    @initialize()
    def begin(self) -> None:
        self.monitor = IncrementalIndex(*self.indices)
        self.samples: list[tuple[tuple[float, ...], object]] = []

    coordinate = st.integers(-4, 4).map(lambda number: number / 2.0)
    sample = st.tuples(coordinate, coordinate)
    label = st.sampled_from(LABELS)

    @rule(x=sample, label=label)
    def add(self, x, label) -> None:
        self.monitor.add(x, label)
        self.samples.append((x, label))

    @rule(rows=st.lists(st.tuples(sample, label), max_size=8))
    def add_many(self, rows) -> None:
        X = np.array([x for x, _ in rows]).reshape(-1, self.d)
        self.monitor.add_many(X, [label for _, label in rows])
        self.samples += rows

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def remove(self, data) -> None:
        x, label = self.samples.pop(data.draw(st.integers(0, len(self.samples) - 1)))
        self.monitor.remove(x, label)

    @rule(label=label, far=st.sampled_from([1e3, 1e6, -3e7]))
    def add_and_remove_an_outlier(self, label, far) -> None:
        self.monitor.add([far, 1.0], label)
        self.monitor.remove([far, 1.0], label)

    @precondition(lambda self: self.samples)
    @rule(data=st.data(), to=label)
    def move(self, data, to) -> None:
        at = data.draw(st.integers(0, len(self.samples) - 1))
        x, label = self.samples[at]
        self.monitor.move(x, label, to)
        self.samples[at] = (x, to)

    @precondition(lambda self: len({label for _, label in self.samples}) > 1)
    @rule(data=st.data())
    def merge(self, data) -> None:
        present = sorted({label for _, label in self.samples}, key=str)
        a, b = data.draw(st.permutations(present))[:2]
        self.monitor.merge(a, b)
        self.samples = [(x, a if label == b else label) for x, label in self.samples]

    @precondition(lambda self: 0 < len({label for _, label in self.samples}) < len(LABELS))
    @rule(data=st.data())
    def split(self, data) -> None:
        counts = Counter(label for _, label in self.samples)
        label = data.draw(st.sampled_from(sorted(counts, key=str)))
        new = next(name for name in LABELS if name not in counts)
        mine = [s for s, (_, own) in enumerate(self.samples) if own == label]
        part = data.draw(st.lists(st.sampled_from(mine), min_size=1, unique=True))
        self.monitor.split(label, [self.samples[s][0] for s in part], new)
        for s in part:
            self.samples[s] = (self.samples[s][0], new)

    @precondition(lambda self: self.samples)
    @rule(data=st.data())
    def try_moves(self, data) -> None:
        at = data.draw(st.integers(0, len(self.samples) - 1))
        x, label = self.samples[at]
        before = self.monitor.state()
        trials = self.monitor.trial_moves(x, label)
        assert self.monitor.state() == before
        assert set(trials) == {own for _, own in self.samples}
        for to, value in trials.items():
            moved = [*self.samples[:at], (x, to), *self.samples[at + 1 :]]
            self.compare(value, moved, self.indices[0])

    @rule()
    def write_and_read(self) -> None:
        state = json.loads(json.dumps(self.monitor.state()))
        self.monitor = IncrementalIndex.from_state(state, widest, longest)

    @rule(rows=st.lists(st.tuples(sample, label), max_size=4), first=st.booleans())
    def add_another(self, rows, first) -> None:
        other = IncrementalIndex(*self.indices)
        for x, label in rows:
            other.add(x, label)
        self.monitor = other + self.monitor if first else self.monitor + other
        self.samples = [*self.samples, *rows]

    @invariant()
    def values_are_those_of_the_samples(self) -> None:
        assert self.monitor.n_samples == len(self.samples)
        assert self.monitor.sizes() == Counter(label for _, label in self.samples)
        values = self.monitor.values()
        for index in self.indices:
            self.compare(values[index.name], self.samples, index)

    def compare(self, value, samples, index) -> None:
        present = list(dict.fromkeys(label for _, label in samples))
        if len(present) < 2:
            assert value is None
            return
        X = np.array([x for x, _ in samples])
        labels = np.array([present.index(label) for _, label in samples])
        assert close(value, batch(index)(X, labels)), (index.name, value, samples)


TestOperations = Operations.TestCase
TestOperations.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)


@every_index
@pytest.mark.parametrize("kind", KINDS)
def test_values_equal_the_batch_values(index, kind) -> None:
    X, labels = labelled(kind, 60, 4, 5, 3)
    monitor = IncrementalIndex(index)
    monitor.add_many(X, labels)
    # About an offset of 1e6 the batch computation itself loses digits.
    about = X - X.mean(axis=0)
    assert close(monitor.value, batch(index)(about, labels), 1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_digits_are_kept_over_long_sequences(name) -> None:
    """A hundred thousand samples come and leave, some of them far away."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3)) + 1e4
    labels = rng.integers(0, 3, 40)
    far = rng.normal(size=(100_000, 3)) * 10.0 ** rng.integers(0, 8, (100_000, 1))
    where = rng.integers(0, 3, 100_000)
    monitor, alone = IncrementalIndex(name), IncrementalIndex(name)
    alone.add_many(X, labels)
    monitor.add_many(X, labels)
    monitor.add_many(far, where)
    for s in rng.permutation(len(far))[:2000]:
        monitor.remove(far[s], where[s])
        monitor.add(far[s], where[s])
    for s in rng.permutation(len(far)):
        monitor.remove(far[s], where[s])
    assert close(monitor.value, alone.value, 1e-12)


# --- forgetting ----------------------------------------------------------------------------------


@pytest.mark.parametrize("forgetting", [0.7, 0.99, 0.9999])
@pytest.mark.parametrize("many", [False, True])
def test_forgetting_is_a_weighted_batch_computation(forgetting, many) -> None:
    rng = np.random.default_rng(7)
    n = 3000
    labels = np.where(np.arange(n) < 1500, rng.integers(0, 4, n), rng.integers(2, 6, n))
    X = rng.normal(size=(n, 3)) + 5.0 * rng.normal(size=(6, 3))[labels]
    names = [name for name in NAMES if INDICES[name].forgets]
    monitor = IncrementalIndex(*names, forgetting=forgetting)
    for stop in (7, 40, 700, 2999, n):
        start = monitor.n_samples
        if many:
            monitor.add_many(X[start:stop], labels[start:stop])
        else:
            for s in range(start, stop):
                monitor.add(X[s], int(labels[s]))
        expected = Weighted(X[:stop], labels[:stop], forgetting_weights(stop, forgetting))
        assert len(monitor) == expected.k
        assert sum(monitor.sizes().values()) == pytest.approx(expected.N)
        for name, value in monitor.values().items():
            if expected.k >= expected.N:
                assert value is None
            elif name.lower() in WEIGHTED:
                assert close(value, WEIGHTED[name.lower()](expected)), name


def test_weights_stay_finite_over_long_streams() -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    labels = np.arange(len(X)) % 3
    one, many = (IncrementalIndex("CH", "NI", forgetting=0.99) for _ in range(2))
    for x, label in zip(X, labels.tolist(), strict=True):
        one.add(x, label)
    many.add_many(X, labels)
    expected = Weighted(X[-6000:], labels[-6000:], forgetting_weights(6000, 0.99))
    for monitor in (one, many):
        assert close(monitor.values()["CH"], WEIGHTED["ch"](expected))
        assert close(monitor.values()["NI"], WEIGHTED["ni"](expected))


def test_clusters_of_the_past_fade_and_come_back() -> None:
    monitor = IncrementalIndex("CH", forgetting=0.9)
    monitor.add_many([[0.0], [1.0], [9.0], [10.0]], ["old", "old", "b", "b"])
    monitor.add_many([[9.0], [10.0]] * 10, ["b", "b"] * 10)
    assert monitor.labels == ("b",)
    assert monitor.value is None
    monitor.add([0.0], "old")
    assert set(monitor.labels) == {"old", "b"}
    assert monitor.value is not None


def test_forgotten_labels_need_no_room() -> None:
    monitor = IncrementalIndex("CH", forgetting=0.5)
    for label in range(5000):
        monitor.add([float(label)], label)
    assert len(monitor.state()["labels"]) < 200


@pytest.mark.nojit
def test_samples_of_a_known_age_leave() -> None:
    rng = np.random.default_rng(4)
    X, labels = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    monitor = IncrementalIndex("CH", "NI", forgetting=0.95)
    monitor.add_many(X, labels)
    w = forgetting_weights(30, 0.95)
    trials = monitor.trial_moves(X[10], labels[10], age=19)
    for to, value in trials.items():
        moved = labels.copy()
        moved[10] = to
        assert close(value, WEIGHTED["ch"](Weighted(X, moved, w)))
    monitor.remove(X[10], labels[10], age=19)
    monitor.move(X[20], labels[20], "new", age=9)
    monitor.split(labels[0], X[:1], "other", ages=[29])
    left = np.arange(30) != 10
    after = labels.copy()
    after[20], after[0] = 7, 8
    expected = Weighted(X[left], after[left], w[left])
    assert close(monitor.value, WEIGHTED["ch"](expected))
    assert close(monitor.values()["NI"], WEIGHTED["ni"](expected))


def test_parts_of_a_stream_that_forgets_are_added_in_order() -> None:
    rng = np.random.default_rng(4)
    X, labels = rng.normal(size=(300, 2)), rng.integers(0, 3, 300)
    whole, first, second = (IncrementalIndex("CH", forgetting=0.98) for _ in range(3))
    whole.add_many(X, labels)
    first.add_many(X[:200], labels[:200])
    second.add_many(X[200:], labels[200:])
    both = first + second
    assert close(both.value, whole.value)
    both.add(X[0], 0)
    whole.add(X[0], 0)
    assert close(both.value, whole.value)


def test_an_index_that_cannot_forget_says_so() -> None:
    with pytest.raises(ValueError, match="widest cannot forget"):
        IncrementalIndex("CH", widest, forgetting=0.9)


# --- what is not defined, and what is wrong ------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_less_than_two_clusters_have_no_value(name) -> None:
    monitor = IncrementalIndex(name)
    assert monitor.value is None
    monitor.add_many([[1.0, 2.0], [2.0, 1.0]], "aa")
    assert monitor.value is None
    assert monitor.trial_moves([1.0, 2.0], "a") == {"a": None}
    monitor.add([5.0, 5.0], "b")
    assert monitor.value is not None
    assert monitor.trial_moves([5.0, 5.0], "b")["a"] is None
    monitor.remove([5.0, 5.0], "b")
    assert monitor.value is None
    assert monitor.labels == ("a",)


@every_index
def test_values_where_formulas_break_are_never_nan(index) -> None:
    coincident = [[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1]
    singletons = [[0.0], [1.0], [5.0]], [0, 1, 2]
    equal = [[3.0], [3.0], [3.0]], [0, 0, 1]
    for X, labels in (coincident, singletons, equal):
        monitor = IncrementalIndex(index)
        monitor.add_many(X, labels)
        expected = batch(index)(np.array(X), np.array(labels))
        assert close(monitor.value, expected)
        assert not math.isnan(monitor.value)


@pytest.mark.nojit
def test_worst_and_perfect_values() -> None:
    monitor = IncrementalIndex("XB", "CH")
    monitor.add_many([[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1])
    assert monitor.values() == {"XB": math.inf, "CH": 0.0}
    perfect = IncrementalIndex("XB", "CH")
    perfect.add_many([[0.0], [0.0], [2.0]], [0, 0, 1])
    assert perfect.values() == {"XB": 0.0, "CH": math.inf}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e101])
def test_samples_that_cannot_be_summed_change_nothing(bad) -> None:
    monitor = IncrementalIndex("CH")
    monitor.add_many([[0.0, 0.0], [1.0, 3.0], [9.0, 9.0]], "aab")
    before = monitor.state()
    calls = [
        lambda: monitor.add([0.0, bad], "a"),
        lambda: monitor.add([0.0, bad], "new"),
        lambda: monitor.add_many([[0.0, 0.0], [bad, 0.0]], ["new", "a"]),
        lambda: monitor.remove([0.0, bad], "a"),
        lambda: monitor.move([0.0, bad], "a", "b"),
        lambda: monitor.trial_moves([0.0, bad], "a"),
        lambda: monitor.split("a", [[0.0, bad]], "new"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"NaN or infinity|1e\+100"):
            call()
        assert monitor.state() == before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.add([1.0], "a"), "2 features, got 1"),
        (lambda m: m.add(5.0, "a"), "one number for every feature"),
        (lambda m: m.add([[1.0, 2.0]], "a"), "one number for every feature"),
        (lambda m: m.add({"f": 1.0}, "a"), "features have no names"),
        (lambda m: m.add([1.0, 2.0], math.nan), "NaN is no label"),
        (lambda m: m.add_many([[1.0, 2.0]], "ab"), "1 row, but there are 2 labels"),
        (lambda m: m.remove([1.0, 2.0], "z"), "no cluster 'z'"),
        (lambda m: m.remove([1.0, 2.0], "a", age=-1), "age must be at least 0"),
        (lambda m: m.move([1.0, 2.0], "z", "a"), "no cluster 'z'"),
        (lambda m: m.merge("a", "z"), "no cluster 'z'"),
        (lambda m: m.merge("a", "a"), "merged with itself"),
        (lambda m: m.split("a", [[0.0, 0.0]], "b"), "a cluster 'b' already"),
        (lambda m: m.split("a", [[0.0, 0.0]] * 3, "c"), "3 samples cannot leave"),
        (lambda m: m.split("a", np.empty((0, 2)), "c"), "X_part has no samples"),
        (lambda m: m + IncrementalIndex("WB"), "different indices"),
        (lambda m: m.update([1.0, 2.0], "a", w=2.0), "weight 1"),
    ],
)
def test_mistakes_are_told(call, message) -> None:
    monitor = IncrementalIndex("CH")
    monitor.add_many([[0.0, 0.0], [1.0, 3.0], [9.0, 9.0]], "aab")
    before = monitor.state()
    with pytest.raises(ValueError, match=message):
        call(monitor)
    assert monitor.state() == before


def test_wrong_parameters() -> None:
    with pytest.raises(TypeError, match="at least one index"):
        IncrementalIndex()
    with pytest.raises(ValueError, match="Unknown index"):
        IncrementalIndex("nonsense")
    with pytest.raises(ValueError, match="twice"):
        IncrementalIndex("CH", "ch")
    with pytest.raises(ValueError, match="forgetting"):
        IncrementalIndex("CH", forgetting=0.0)
    with pytest.raises(ValueError, match="forgetting"):
        IncrementalIndex("CH", forgetting=1.5)


# --- state, features with names, river -----------------------------------------------------------


def test_labels_that_json_has_no_word_for() -> None:
    monitor = IncrementalIndex("CH")
    monitor.add([0.0], frozenset("a"))
    with pytest.raises(TypeError, match="frozenset"):
        monitor.state()


def test_numpy_labels_are_those_of_python() -> None:
    monitor = IncrementalIndex("CH")
    monitor.add_many([[0.0], [1.0], [5.0]], np.array([3, 3, 4]))
    monitor.add([2.0], np.int64(3))
    monitor.add([2.0], 3)
    assert monitor.sizes() == {3: 4.0, 4: 1.0}
    read = IncrementalIndex.from_state(json.loads(json.dumps(monitor.state())))
    assert read.sizes() == {3: 4.0, 4: 1.0}


@pytest.mark.parametrize("key", ["version", "sums", "labels"])
def test_a_broken_state_is_refused(key) -> None:
    monitor = IncrementalIndex("CH")
    monitor.add_many([[0.0], [1.0], [5.0]], "aab")
    state = monitor.state()
    state[key] = {"version": 99, "sums": [[0.0]], "labels": ["a", "a"]}[key]
    with pytest.raises(ValueError, match="monitor"):
        IncrementalIndex.from_state(state)


@pytest.mark.parametrize("name", NAMES)
def test_features_that_appear_later_were_zero_before(name) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    X[:10, 2:] = 0.0
    X[10:20, 3] = 0.0
    labels = rng.integers(0, 3, 30)
    named, plain = IncrementalIndex(name), IncrementalIndex(name)
    plain.add_many(X, labels)
    for s, (x, label) in enumerate(zip(X, labels, strict=True)):
        d = 2 + s // 10
        named.add({f"f{f}": x[f] for f in rng.permutation(d)}, label)
    assert close(named.value, plain.value)
    parts = [IncrementalIndex(name) for _ in range(2)]
    for s, (x, label) in enumerate(zip(X, labels, strict=True)):
        parts[s % 2].add({f"f{f}": x[f] for f in rng.permutation(4)[: 4 if s > 3 else 3]}, label)
    both = parts[0] + parts[1]
    assert both.n_samples == 30
    state = IncrementalIndex.from_state(json.loads(json.dumps(named.state())))
    assert state.value == named.value
    with pytest.raises(ValueError, match="features have names"):
        named.add([0.0] * 4, 0)


def test_monitors_of_named_features_in_another_order_are_added() -> None:
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    whole, first, second = (IncrementalIndex("NI", "CH") for _ in range(3))
    whole.add_many(X, labels)
    for s in range(30):
        if s % 2:
            first.add({"a": X[s, 0], "b": X[s, 1], "c": X[s, 2]}, labels[s])
        else:
            second.add({"c": X[s, 2], "a": X[s, 0], "b": X[s, 1]}, labels[s])
    both = first + second
    for name, value in whole.values().items():
        assert close(both.values()[name], value)


@pytest.mark.nojit
def test_the_interface_of_river() -> None:
    monitor = IncrementalIndex("XB")
    for x, label in [(0.0, 0), (1.0, 0), (9.0, 1)]:
        monitor.update({"x": x}, label, {0: {"x": 0.0}})
    before = monitor.get()
    monitor.update({"x": 3.0}, 1)
    assert monitor.get() != before
    monitor.revert({"x": 3.0}, 1, {0: {"x": 0.0}})
    assert close(monitor.get(), before)
    assert not monitor.bigger_is_better
    assert IncrementalIndex("CH").bigger_is_better
    assert "XB" in repr(monitor)


def test_as_a_metric_of_river() -> None:
    cluster = pytest.importorskip("river.cluster")
    model, monitor = cluster.KMeans(n_clusters=3, seed=1), IncrementalIndex("CH")
    assert monitor.works_with(model)
    rng = np.random.default_rng(0)
    rows, labels = [], []
    for s in range(200):
        x = {f: float(v) for f, v in enumerate(rng.normal(size=2) + 5 * (s % 3))}
        model.learn_one(x)
        labels.append(model.predict_one(x))
        rows.append(list(x.values()))
        monitor.update(x, labels[-1], model.centers)
    assert close(monitor.get(), oracle.ch(np.array(rows), np.array(labels)))


def test_a_row_of_any_kind_is_read() -> None:
    monitor = IncrementalIndex("CH")
    frozen = np.array([1.0, 2.0])
    frozen.flags.writeable = False
    wide = np.arange(8.0).reshape(2, 4)[:, ::2]
    for x in (frozen, wide[0], np.array([1, 2], np.int8), np.array([1, 2], np.float32), (5, 6.0)):
        monitor.add(x, "a")
    monitor.add_many(wide, "ab")
    monitor.add_many(frozen[None], "b")
    assert monitor.sizes() == {"a": 6.0, "b": 2.0}


def test_every_index_of_the_registry_is_told_whether_it_forgets() -> None:
    assert all(index.forgets for index in INDICES.values() if index.name.lower() in WEIGHTED)
