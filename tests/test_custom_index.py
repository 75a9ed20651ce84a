"""An index of one's own drives a fit as a built-in one does."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError
from sklearn.base import clone

from icvi_artmap import ICVIARTMAP, custom_index, index_value
from icvi_artmap.indices import base
from icvi_artmap.indices.base import Index


@custom_index(better="greater")
def own_ch(n, mean, compactness):
    """Calinski-Harabasz, from the moments alone."""
    k, d = mean.shape
    total = n.sum()
    separation = 0.0
    for f in range(d):
        centre = 0.0
        for i in range(k):
            centre += n[i] * mean[i, f] / total
        for i in range(k):
            separation += n[i] * (mean[i, f] - centre) ** 2
    within = compactness.sum()
    return separation * (total - k) / (within * (k - 1))


@custom_index(better="smaller", name="own NI")
def own_ni(n, mean, compactness, scatter):
    """Negentropy increment but for the data's own determinant, which is the same for all."""
    k, d = mean.shape
    total = n.sum()
    delta = 10.0 ** (-12.0 / d)
    value = 0.0
    for i in range(k):
        a = np.empty((d, d))
        logdet = 0.0
        for f in range(d):
            for g in range(d):
                a[f, g] = scatter[i, f, g] / max(n[i] - 1, 1)
            a[f, f] += delta
        for f in range(d):
            logdet += np.log(a[f, f])
            for r in range(f + 1, d):
                ratio = a[r, f] / a[f, f]
                for g in range(f, d):
                    a[r, g] -= ratio * a[f, g]
        p = n[i] / total
        value += p * (0.5 * logdet - np.log(p))
    return value


def blobs(seed: int, n: int = 120, d: int = 2, k: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(k, d))[rng.integers(0, k, n)]


def assert_same_fit(own: Index, built_in: str, X: np.ndarray, **options: Any) -> None:
    options |= {"refine": False, "random_state": 0}
    expected = ICVIARTMAP(4, index=built_in, **options).fit(X)
    model = ICVIARTMAP(4, index=own, **options).fit(X)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.sample_categories_, expected.sample_categories_)
    np.testing.assert_array_equal(model.map_field_, expected.map_field_)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("rho_a", "rho_ab"), [(0.0, 1.0), (0.7, 1.0), (0.9, 0.9), (0.5, 0.5), (0.95, 1.0)]
)
@pytest.mark.parametrize("seed", range(3))
def test_own_ch_gives_the_labels_of_ch(seed: int, rho_a: float, rho_ab: float) -> None:
    assert_same_fit(own_ch, "CH", blobs(seed), rho_a=rho_a, rho_ab=rho_ab, max_epochs=4)


@pytest.mark.parametrize("rho_a", [0.0, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_own_ni_gives_the_labels_of_ni(seed: int, rho_a: float) -> None:
    assert_same_fit(own_ni, "NI", blobs(seed, d=3), rho_a=rho_a)


def test_batch_evaluation_of_an_own_index() -> None:
    X = blobs(1, n=60)
    labels = [
        ICVIARTMAP(4, index=own_ch, evaluation=evaluation, random_state=0).fit_predict(X)
        for evaluation in ("incremental", "batch")
    ]
    np.testing.assert_array_equal(*labels)


def test_value_of_an_own_index() -> None:
    X, labels = blobs(0), np.arange(120) % 3
    expected = index_value(X, labels, "CH")
    assert index_value(X, labels, own_ch) == pytest.approx(expected, rel=1e-9)
    model = ICVIARTMAP(4, index=own_ch, random_state=0).fit(X)
    assert model.index_value_ == pytest.approx(index_value(X, model.labels_, "CH"), rel=1e-9)


def test_direction_of_an_own_index() -> None:
    """Smaller is better: the score is the negative value."""
    model = ICVIARTMAP(4, index=own_ni, random_state=0).fit(blobs(0))
    assert own_ni.direction == -1
    value = own_ni.value(model.score(blobs(0)))
    assert value == pytest.approx(index_value(blobs(0), model.predict(blobs(0)), own_ni))


def test_nan_counts_as_the_worst_value() -> None:
    """0/0 at SSW = 0, as for the built-in indices."""

    @custom_index(better="smaller")
    def broken(n, mean, compactness):
        """Something / 0 for a hundred samples and more, 0/0 for fewer."""
        within = compactness.sum() if n.sum() >= 100 else 0.0
        return within / (n.sum() - n.sum())

    X, labels = blobs(0), np.arange(120) % 3
    assert index_value(X, labels, broken) == np.inf
    assert index_value(X[:90], labels[:90], broken) == np.inf
    model = ICVIARTMAP(3, index=broken, random_state=0).fit(X[:90])
    assert not np.isnan(model.index_value_)


def test_the_index_is_still_a_function() -> None:
    n, mean, compactness = np.array([2, 2]), np.array([[0.5], [10.5]]), np.array([0.5, 0.5])
    assert own_ch(n, mean, compactness) == pytest.approx(200.0)
    assert own_ch.name == "own_ch"
    assert own_ni.name == "own NI"


def shift_free_ssw(n, mean, compactness):
    return compactness.sum()


#: Not under the function's name: the function itself can be found.
renamed = custom_index(shift_free_ssw, better="smaller", name="SSW")


def test_decorator_as_a_plain_call() -> None:
    assert renamed.name == "SSW"
    assert index_value([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1], renamed) == pytest.approx(
        4 / 101
    )


@pytest.mark.parametrize("n_parameters", [0, 2, 5])
def test_wrong_number_of_parameters(n_parameters: int) -> None:
    names = ", ".join("abcde"[:n_parameters])
    namespace: dict[str, Any] = {}
    exec(f"def wrong({names}): return 0.0", namespace)
    with pytest.raises(TypeError, match=rf"wrong has {n_parameters} parameters.*compactness"):
        custom_index(better="greater")(namespace["wrong"])


@pytest.mark.parametrize("better", ["larger", "", None, 1])
def test_bad_direction(better: Any) -> None:
    with pytest.raises(ValueError, match=r'better must be "greater" or "smaller", got'):
        custom_index(better=better)


def test_direction_is_required() -> None:
    with pytest.raises(TypeError, match="better"):
        custom_index(lambda n, mean, compactness: 0.0)


# --- copies --------------------------------------------------------------------------------------


def test_clone_and_deepcopy_keep_the_index() -> None:
    model = ICVIARTMAP(4, index=own_ch, random_state=0).fit(blobs(0))
    assert clone(model).index is own_ch
    twin = copy.deepcopy(model)
    assert twin.index is own_ch
    np.testing.assert_array_equal(twin.predict(blobs(1)), model.predict(blobs(1)))
    np.testing.assert_array_equal(clone(model).fit(blobs(0)).labels_, model.labels_)


def test_pickle_of_an_estimator() -> None:
    """A function of a module is found again by its name."""
    model = ICVIARTMAP(4, index=own_ch, random_state=0).fit(blobs(0))
    twin = pickle.loads(pickle.dumps(model))
    assert twin.index is own_ch
    np.testing.assert_array_equal(twin.predict(blobs(1)), model.predict(blobs(1)))
    assert twin.score(blobs(1)) == model.score(blobs(1))


def test_pickle_of_an_index_under_another_name() -> None:
    twin = pickle.loads(pickle.dumps(renamed))
    assert (twin.name, twin.direction) == ("SSW", -1)
    X, labels = blobs(0), np.arange(120) % 3
    assert index_value(X, labels, twin) == index_value(X, labels, renamed)


# --- compiled code -------------------------------------------------------------------------------


def make_named(body: str) -> Any:
    """A new function under the old name, as when a notebook cell is run again."""
    namespace: dict[str, Any] = {}
    exec(f"def mine(n, mean, compactness):\n    return {body}\n", namespace)
    return custom_index(better="greater")(namespace["mine"])


def test_an_edited_function_is_compiled_again() -> None:
    X, labels = blobs(0), np.arange(120) % 3
    made = [make_named(body) for body in ("1.0", "2.0", "n.sum() + 0.0")]
    assert [index_value(X, labels, index) for index in made] == [1.0, 2.0, 120.0]
    fits = [ICVIARTMAP(4, index=index, random_state=0).fit(X).index_value_ for index in made[:2]]
    assert fits == [1.0, 2.0]


PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from icvi_artmap import custom_index, index_value

def files():
    return {p for p in Path(sys.argv[1]).rglob("*") if p.is_file()}

X = np.random.RandomState(0).normal(size=(60, 2))
labels = np.arange(60) % 3
index_value(X, labels, "CH")
before = files()
assert any(b"CHState" in p.read_bytes() for p in before), "built-in indices are kept"

FACTOR = float(sys.argv[2])

@custom_index(better="smaller")
def mine_alone(n, mean, compactness):
    return (compactness / n).mean() * FACTOR

value = index_value(X, labels, mine_alone)
added = files() - before
assert bool(added) == (FACTOR == 1.0), "what calls it is compiled once for all functions"
assert not any(b"mine_alone" in p.read_bytes() for p in files()), "nothing is kept of one's own"
print(value)
"""


def test_nothing_of_an_own_index_is_kept_on_disk(tmp_path: Path) -> None:
    """A second process with another constant in the function must see its own value.

    The kernels that call the function are kept, and serve the second process as well.
    """
    values = []
    for factor in ("1.0", "3.0"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path), factor],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        values.append(float(done.stdout))
    assert values[1] == pytest.approx(3.0 * values[0])


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_are_compiled_once_for_all_own_indices() -> None:
    """numba never gives back the memory of compiled code: a new index adds none but its own."""
    X = blobs(0)

    def fit(body: str) -> int:
        model = ICVIARTMAP(3, index=make_named(body), random_state=0).fit(X)
        model.predict(X[:5])
        return len(base.evaluate.overloads)

    assert fit("compactness.sum()") == fit("-(compactness / n).max()")


def test_an_error_in_an_own_function_is_raised() -> None:
    @custom_index(better="smaller")
    def choosy(n, mean, compactness):
        if len(n) == 3:
            raise ValueError("not three")
        return compactness.sum()

    X, labels = blobs(0), np.arange(120)
    assert index_value(X, labels % 4, choosy) > 0.0
    with pytest.raises(ValueError, match="not three"):
        index_value(X, labels % 3, choosy)
    with pytest.raises(ValueError, match="not three"):
        ICVIARTMAP(3, index=choosy, random_state=0).fit(X)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_function_that_gives_no_number_is_refused() -> None:
    @custom_index(better="smaller")
    def silent(n, mean, compactness):
        pass

    with pytest.raises(TypingError, match="No conversion from none to float64"):
        ICVIARTMAP(3, index=silent).fit(blobs(0))


def test_an_index_must_implement_the_contract() -> None:
    with pytest.raises(TypeError, match="Half lacks score, trial_merge, trial_moves, trial_split"):
        base.implement(type("Half", (), {}), update=None)
