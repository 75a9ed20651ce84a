"""The commands that train latents: ``latent`` and ``reproduce --real``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from icvi_artmap import read_table
from icvi_artmap.cli.app import run
from icvi_artmap.reproduction import latents, page, paper, protocol
from icvi_artmap.reproduction.latents import Latents, Point
from icvi_artmap.reproduction.ledger import Ledger
from icvi_artmap.reproduction.reproduction import Request
from icvi_artmap.reproduction.tables import result_table

X, y = load_digits(n_class=3, return_X_y=True)
SMALL = ["-k", "3", "--size", "2", "--layers", "12", "--pretraining", "20", "--clustering", "20"]


@pytest.fixture(name="images")
def digits_file(tmp_path: Path) -> str:
    path = tmp_path / "digits.npz"
    np.savez(path, X=X[:150], y=y[:150])
    return str(path)


# --- latent --------------------------------------------------------------------------------------


def test_latents_are_written_and_the_network_is_used_again(
    images: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="there is no PyTorch: make test-deep")
    first, second = str(tmp_path / "first.csv"), str(tmp_path / "second.csv")
    arguments = [images, *SMALL, "--image", "8x8", "--model", str(tmp_path / "deep.icvi")]
    assert run(["latent", *arguments, "-o", first, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rows"], facts["columns"], facts["latents"]) == (150, 64, 2)
    assert facts["iterations"] == 40
    assert run(["latent", *arguments, "-o", second]) == 0
    told = capsys.readouterr()
    assert "nothing was trained" in told.err
    assert "150 rows, 64 columns" in told.out
    one, two = (
        read_table(path, columns=["latent*"], label_column="label") for path in (first, second)
    )
    assert one.columns == ("latent1", "latent2")
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(np.asarray(one.labels, np.int64), y[:150])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--image", "8by8"], "--image"),
        (["--layers", "a,b"], "--layers"),
        (["--checkpoint", "training.csv"], "must end in .npz"),
        (["--model", "deep.csv"], "must end in .icvi"),
    ],
)
def test_wrong_use_is_told_before_anything_is_read(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["latent", "nowhere.csv", "-o", "out.csv", *arguments]) == 2
    assert text in capsys.readouterr().err


def test_another_model_is_no_network(
    images: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tmp_path / "clusters.icvi")
    assert run(["fit", images, "-k", "3", "-i", "CH", "--model", model, "--quiet"]) == 0
    out = str(tmp_path / "out.csv")
    assert run(["latent", images, "--model", model, "-o", out]) == 2
    assert "holds a ICVIARTMAP" in capsys.readouterr().err
    assert not Path(out).exists()


# --- reproduce --real ----------------------------------------------------------------------------


def made(seed: int, ch: float, n: int = 60) -> Latents:
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), n // 3)
    rows = generator.normal(size=(n, 10)) + 8.0 * labels[:, None]
    curve = [Point("pretraining", 1400, 0.5), Point("clustering", 280, 0.75)]
    return Latents(seed, rows, labels, curve, 0.8, ch)


def test_latents_come_back_from_their_file_and_ch_chooses(tmp_path: Path) -> None:
    for seed, ch in enumerate((10.0, 30.0, 20.0)):
        latents.write(latents.path_of(tmp_path, "dynae", "usps", seed), made(seed, ch))
    found = latents.chosen(tmp_path, "dynae", "usps", 3)
    assert (found.seed, found.curve) == (1, made(1, 0.0).curve)
    np.testing.assert_array_equal(found.X, made(1, 0.0).X)
    assert latents.chosen(tmp_path, "dynae", "usps", 1).seed == 0
    space = protocol.Space("dynae", tmp_path, 3)
    problem = protocol.load("usps", None, 0, False, space)
    order = np.random.RandomState(0).permutation(60)
    np.testing.assert_array_equal(problem.X, found.X[order])


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04 cut off"])
def test_a_file_that_holds_no_latents_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dynae-usps-0.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not hold latents"):
        latents.read(path)


def test_files_are_not_made_twice(tmp_path: Path) -> None:
    latents.write(latents.path_of(tmp_path, "dynae", "usps", 0), made(0, 1.0))
    said: list[str] = []
    found = latents.make_missing(tmp_path, "dynae", "usps", 1, "nowhere", False, said.append)
    assert [one.seed for one in found] == [0]
    assert not said


def test_all_seeds_are_shown_and_one_is_chosen() -> None:
    section = page.latents_section({"usps": [made(0, 1.0), made(1, 2.0)]}, "dynae")
    assert section.grid is not None
    first, second = section.grid.rows
    assert first == ["usps", "0", "1,400", "0.5000", "280", "0.8000", "1", ""]
    assert "chosen" in second


def test_printed_values_are_beside_trained_latents_only(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl", {})
    ledger.add(("usps", "k-means, GMM"), {"values": {"kmeans": 0.95, "GMM": 0.96}, "seconds": 1.0})
    ledger.add(("usps", "any shape"), {"values": {"iNI any shape": 0.9}, "seconds": 1.0})
    trained = result_table("real", ledger, ["usps"], "dynae")
    assert trained.cells["usps"]["kmeans"].printed == paper.REAL.values["usps"]["kmeans"]
    assert "iNI any shape" in trained.columns
    assert "usps, DynAE (10-D)" in page.markdown("", [], [page.result_section(trained)])
    other = result_table("real", ledger, ["usps"], "umap")
    assert other.cells["usps"]["kmeans"].printed is None
    text = page.markdown("", [], [page.result_section(other)])
    assert "usps, UMAP (10-D), not the paper's latent space" in text


def test_what_is_run_on_latents() -> None:
    usps = protocol.jobs("usps", paper.REAL_COLUMNS, False, "dynae")
    assert {"ART", "SC", "NI 0", "CH 0", "any shape", "refined", "HAC"} <= set(usps)
    large = protocol.jobs("mnist", paper.REAL_COLUMNS, False, "dynae")
    assert "ART" not in large
    assert "SC" not in large
    assert "any shape" not in protocol.jobs("usps", paper.REAL_COLUMNS, False)


def test_a_request_for_latents_has_the_papers_four_sets(tmp_path: Path) -> None:
    request = Request(("real",), (), (), None, tmp_path, False, 1, 0, kind="dynae")
    assert request.learned() == request.real() == ("usps", "mnist-test", "mnist", "fashion-mnist")
    plain = Request(("real",), (), (), None, tmp_path, False, 1, 0)
    assert plain.learned() == ()
    assert "olivetti" in plain.real()


def test_tables_cannot_be_chosen_with_real(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", "--real", "--table", "real", "-o", str(tmp_path)]) == 2
    assert "--real chooses tables" in capsys.readouterr().err


def test_curves_are_drawn() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    from icvi_artmap.reproduction.figures import curves

    figure = curves({"usps": [made(0, 1.0), made(1, 2.0)], "mnist": [made(0, 1.0)]})
    left, right = figure.axes
    assert [len(axis.get_lines()) for axis in (left, right)] == [4, 2]
    np.testing.assert_array_equal(left.get_lines()[0].get_xdata(), [1400, 1680])
    plt.close(figure)


def test_the_curve_keeps_each_point_once(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="there is no PyTorch: make test-deep")
    assert torch.get_num_threads() >= 1
    from icvi_artmap._support.callbacks import watching
    from icvi_artmap.deep import DynamicAutoencoder

    model = DynamicAutoencoder(
        3,
        n_components=2,
        hidden=(12,),
        image_shape=(8, 8),
        pretraining_iterations=150,
        clustering_iterations=1,
        random_state=0,
    )
    for _ in range(2):
        curve = latents.Curve(X / 16.0, y, tmp_path / "curve.jsonl", lambda _: None)
        with watching(curve):
            model.fit(X)
    assert [point[:2] for point in curve.points()] == [("pretraining", 150), ("clustering", 1)]
    assert all(-0.5 < point.ari <= 1.0 for point in curve.points())
