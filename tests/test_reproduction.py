"""The paper's tables made again: what is printed, the protocol, what is stored, the pages."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, DualVigilanceFuzzyART, FuzzyART
from icvi_artmap.cli.app import run
from icvi_artmap.datasets import SYNTHETIC, make_gaussian_clusters
from icvi_artmap.indices.registry import get_index
from icvi_artmap.reproduction import page, paper, protocol, running, speed
from icvi_artmap.reproduction.kmeans import kmeans
from icvi_artmap.reproduction.ledger import Ledger
from icvi_artmap.reproduction.protocol import Problem
from icvi_artmap.reproduction.ranks import average_ranks
from icvi_artmap.reproduction.tables import MORE_STARTS, REFINED, Cell, result_table

# --- what the paper prints ------------------------------------------------------------------------


def test_tables_are_whole() -> None:
    assert tuple(paper.SYNTHETIC.values) == SYNTHETIC == tuple(paper.TUNED_SYNTHETIC.values)
    assert all(tuple(row) == paper.COLUMNS for row in paper.SYNTHETIC.values.values())
    assert len(paper.COLUMNS) == 15
    assert [len(row) for row in paper.REAL.values.values()] == [11, 11, 11, 4, 4]
    assert paper.SYNTHETIC.values["2d-20c-no0"]["VAT+FA"] == 0.9209
    assert paper.TUNED_REAL.values["mnist-test"]["iNI"] == 0.8634


def test_printed_ranks_follow_from_the_printed_values() -> None:
    """All but two: SC and complete linkage differ by half a rank on one set, a tie by rounding."""
    ours = average_ranks(paper.SYNTHETIC.values)
    different = [
        c for c, rank in paper.SYNTHETIC.average_rank.items() if abs(ours[c] - rank) > 0.01
    ]
    assert different == ["SC", "complete"]
    assert all(abs(ours[c] - paper.SYNTHETIC.average_rank[c]) < 0.04 for c in different)
    assert average_ranks(paper.REAL.values) == pytest.approx(paper.REAL.average_rank, abs=0.006)
    tuned = {n: row | paper.TUNED_SYNTHETIC.values[n] for n, row in paper.SYNTHETIC.values.items()}
    for column, rank in paper.TUNED_SYNTHETIC.average_rank.items():
        assert average_ranks(tuned)[column] == pytest.approx(rank, abs=0.006)


def test_grids_are_the_papers() -> None:
    assert paper.rho_a("2d-4c-no0")[-1] == 0.95
    assert len(paper.rho_a("2d-4c-no0")) == 20
    assert paper.rho_a("ellipsoid.50d4c.1")[-1] == 0.7
    assert paper.rho_a("mnist") == (0.0, 0.1, 0.2)
    assert tuple(float(f"{0.1 * i:.1f}") for i in range(1, 11)) == paper.RHO_AB
    assert (len(paper.RHO_ART), len(paper.BELOW), len(paper.GAMMA)) == (86, 11, 101)


# --- the protocol ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", name="problem")
def small_problem() -> Problem:
    X, y = make_gaussian_clusters(4, 2, n_samples=200, random_state=1)
    return Problem("2d-4c-no0", X, y, 0, False)


def test_a_variant_is_the_best_of_its_grid(problem: Problem) -> None:
    """Fits that are left out as the same as others would have changed nothing."""
    outcome = protocol.variant("CH", 0)(problem)
    centres = problem.centres(0)
    aris, values = [], []
    for rho_a, rho_ab in itertools.product(paper.rho_a(problem.name), paper.RHO_AB):
        model = ICVIARTMAP(
            4,
            index="CH",
            rho_a=rho_a,
            rho_ab=rho_ab,
            init=centres,
            shuffle=False,
            refine=False,
            random_state=0,
        ).fit(problem.X)
        aris.append(adjusted_rand_score(problem.y, model.labels_))
        values.append(model.index_value_)
    assert outcome["values"]["best"] == max(aris)
    assert outcome["index_value"] == max(values)
    assert outcome["values"]["tuned"] == aris[int(np.argmax(values))]
    assert 0 < outcome["fits"] < len(aris)


def test_both_ends_of_vat_are_tried(problem: Problem) -> None:
    quick = problem._replace(quick=True)
    outcome = protocol.art(quick)
    backwards = protocol.art(quick._replace(X=problem.X[::-1], y=problem.y[::-1]))
    assert outcome["values"] == pytest.approx(backwards["other end"])
    assert outcome["other end"] == pytest.approx(backwards["values"])
    order = protocol._vat_order(problem.X)
    X, y = problem.X[order], problem.y[order]
    aris: dict[bool, list[float]] = {False: [], True: []}
    for upper, lower in protocol._dual_vigilances(paper.RHO_ART[::-5], paper.BELOW[::5]):
        model = DualVigilanceFuzzyART(upper, lower)
        labels = protocol._epochs_until_no_new_category(model, X)
        aris[upper == lower].append(adjusted_rand_score(y, labels))
    assert outcome["other end"]["VAT+FA"] == max(aris[True])
    assert outcome["other end"]["VAT+DVFA"] == max(aris[True] + aris[False])


def test_vat_and_fuzzy_art_give_the_papers_values(shared_data: Path) -> None:
    """To four decimals, here for the smallest set of both families and a part of the grid."""
    for name, rho in (("2d-20c-no0", 0.84), ("10d-20c-no0", None)):
        problem = protocol.load(name, str(shared_data), 0, False)
        backwards = np.arange(len(problem.X))[::-1]
        order = backwards[protocol._vat_order(problem.X[backwards])]
        best = max(
            adjusted_rand_score(
                problem.y[order],
                protocol._epochs_until_no_new_category(FuzzyART(value), problem.X[order]),
            )
            for value in (paper.RHO_ART if rho is None else (rho,))
        )
        assert round(best, 4) == paper.SYNTHETIC.values[name]["VAT+FA"]


@pytest.mark.parametrize("name", ["2d-20c-no0", "10d-40c-no0", "ellipsoid.50d4c.1"])
def test_linkages_kmeans_and_mixtures_are_the_papers(name: str, shared_data: Path) -> None:
    problem = protocol.load(name, str(shared_data), 0, False)
    printed = paper.SYNTHETIC.values[name]
    values = protocol.linkages(problem)["values"] | protocol.centroids(problem)["values"]
    for column, value in values.items():
        assert round(value, 4) == printed[column]


def test_spectral_clustering_is_the_papers(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = protocol.load("2d-20c-no0", str(shared_data), 0, False)
    monkeypatch.setattr(paper, "GAMMA", (1.46,))
    assert round(protocol.spectral(problem)["values"]["SC"], 4) == 0.8927


def test_the_best_of_several_kmeans_runs_is_kept(problem: Problem) -> None:
    """Every run has a seed of its own: more runs contain the fewer ones."""
    inertias = [
        kmeans(problem.standardised, 7, trials, np.random.RandomState(3)).inertia_
        for trials in (1, 2, 5, 20)
    ]
    assert inertias == sorted(inertias, reverse=True)
    assert inertias[-1] < inertias[0]


def test_ni_tuned_by_the_index_is_the_papers(shared_data: Path) -> None:
    problem = protocol.load("2d-4c-no0", str(shared_data), 0, True)
    assert round(protocol.variant("NI", 0)(problem)["values"]["tuned"], 4) == 0.9941
    assert round(protocol.refined(problem)["values"][REFINED], 4) == 0.9941


def test_large_sets_leave_out_what_needs_all_distances() -> None:
    jobs = protocol.jobs("mnist", paper.REAL_COLUMNS, False)
    assert "SC" not in jobs
    assert "SC" in protocol.jobs("usps", paper.REAL_COLUMNS, False)
    assert {"NI 0", "CH 0"} == {job for job in jobs if job.split()[0] in paper.INDICES}
    assert "NI 9" in protocol.jobs("2d-4c-no0", paper.COLUMNS, False)


# --- what is stored -------------------------------------------------------------------------------


def test_a_ledger_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    Ledger(path, {"seed": 0}).add(("a", "SC"), {"values": {"SC": 1 / 3}, "seconds": 1.0})
    Ledger(path, {"seed": 1}).add(("a", "SC"), {"values": {"SC": 0.5}, "seconds": 1.0})
    with open(path, "ab") as file:
        file.write(b'{"set": "a", "job": "HA')  # killed while it wrote
    ledger = Ledger(path, {"seed": 0})
    assert ledger.outcomes == {("a", "SC"): {"values": {"SC": 1 / 3}, "seconds": 1.0}}
    ledger.add(("a", "HAC"), {"values": {}, "seconds": 0.0})
    assert len(Ledger(path, {"seed": 0}).outcomes) == 2
    assert len(Ledger(path, {"seed": 1}).outcomes) == 1


@pytest.mark.parametrize("text", ["name,value\n", "name,value", '{"set": 1}\n{"job": "x'])
def test_a_foreign_file_is_refused_and_left_as_it_is(text: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"Line 1 of .* is not a result of this command"):
        Ledger(path, {})
    assert path.read_text() == text


def test_only_what_is_missing_is_run(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl", {})
    every = running.missing(ledger, "2d-4c-no0", paper.COLUMNS, True)
    ledger.add(every[0], {"values": {}, "seconds": 0.0})
    assert running.missing(ledger, "2d-4c-no0", paper.COLUMNS, True) == every[1:]


# --- tables and pages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "mark"),
    [
        (Cell(0.99412, 0.9941), "="),
        (Cell(0.99, 0.9941), "≈"),
        (Cell(0.9, 0.8), "▲"),
        (Cell(0.8, 0.9), "▼"),
        (Cell(0.8, 0.9, 0.90001), "⇄"),
        (Cell(0.8), ""),
        (Cell(None, 0.9), ""),
    ],
)
def test_marks(cell: Cell, mark: str) -> None:
    assert cell.mark == mark


def filled(path: Path) -> Ledger:
    """Jobs with made-up values on two sets."""
    ledger = Ledger(path / "results.jsonl", {})
    for name, value in (("2d-4c-no0", 0.9), ("2d-10c-no0", 0.7)):
        for i, index in enumerate(paper.INDICES):
            for start in range(protocol.STARTS[index]):
                values = {"best": value - 0.01 * i, "tuned": value - 0.1 + 0.01 * start}
                worst = get_index(index).direction * (-1.0 if start == 3 else -2.0)
                outcome = {"values": values, "index_value": worst, "seconds": 1.0}
                ledger.add((name, f"{index} {start}"), outcome)
        ends = {"VAT+FA": 0.8478, "VAT+DVFA": 0.8}
        art = {"values": {"VAT+FA": 0.5, "VAT+DVFA": 0.5}, "other end": ends, "seconds": 4.0}
        ledger.add((name, "ART"), art)
        ledger.add((name, "refined"), {"values": {REFINED: 0.95}, "seconds": 1.0})
    return ledger


def test_result_table(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    table = result_table("synthetic", ledger, SYNTHETIC)
    assert list(table.cells) == ["2d-4c-no0", "2d-10c-no0"]
    assert table.cells["2d-4c-no0"]["iCH"] == Cell(0.89, 0.9843, None)
    assert table.cells["2d-4c-no0"]["VAT+FA"].mark == "⇄"
    assert table.cells["2d-4c-no0"]["SC"] == Cell(None, 0.8899, None)
    assert table.ranks["iNI"] == Cell(1.0, None)  # not all sets: nothing to compare with
    assert table.mean("iNI").ours == pytest.approx(0.8)
    assert table.seconds["VAT+FA"] == 4.0
    assert table.seconds[MORE_STARTS["NI"]] == 18.0
    assert table.seconds[MORE_STARTS["PBM"]] == 8.0
    assert table.cells["2d-4c-no0"][MORE_STARTS["WB"]].ours == pytest.approx(0.88)
    tuned = result_table("tuned-synthetic", ledger, SYNTHETIC)
    assert tuned.cells["2d-4c-no0"]["iNI"].ours == pytest.approx(0.8)
    for column in MORE_STARTS.values():  # start 3 has the best index value
        assert tuned.cells["2d-4c-no0"][column].ours == pytest.approx(0.83)
    assert tuned.columns == (*paper.VARIANTS, REFINED, *MORE_STARTS.values())


def test_pages_show_both_values_and_escape_names(tmp_path: Path) -> None:
    section = page.result_section(result_table("synthetic", filled(tmp_path), SYNTHETIC))
    odd = page.Section("speed", ["a `<b>` & c"], page.Grid(["<script>"], [["1 ▲ 0"]]))
    markdown = page.markdown("Title", ["Intro"], [section, odd])
    assert "| 2d-4c-no0 | 0.9000 ▼ 0.9941 |" in markdown
    assert "0.5000 ⇄ 0.8478" in markdown
    assert "– (0.8899)" in markdown
    web = page.web("Title", ["Intro"], [section, odd])
    assert "<script>" not in web
    assert "&lt;script&gt;" in web
    assert "<code>&lt;b&gt;</code> &amp; c" in web
    assert '<td class="below">0.9000 ▼ 0.9941</td>' in web


def test_times_of_both_evaluations() -> None:
    X, _ = make_gaussian_clusters(3, 2, n_samples=120, random_state=0)
    times = speed.compare(X, "CH", (2, 3), 0.001)
    assert list(times) == [2, 3]
    assert all(seconds > 0 for pair in times.values() for seconds in pair)


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--table", "nonsense"], "--table nonsense: unknown"),
        (["--figure", "nonsense"], "--figure nonsense: unknown"),
        (["--sets", "nonsense"], "--sets nonsense: unknown"),
        (["--jobs", "0"], "--jobs 0"),
        (["--seed", "-1"], "--seed -1"),
        (["--table", "synthetic", "--sets", "2d-4c-no0", "--data", "nowhere"], "nowhere"),
    ],
)
def test_wrong_requests(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", *arguments, "-o", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_its_pages_and_goes_on(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "--data", str(shared_data), "-o", str(tmp_path), "--quick"]
    arguments += ["--sets", "2d-4c-no0", "--jobs", "1"]
    assert run([*arguments, "--table", "synthetic", "--table", "datasets"]) == 0
    first = (tmp_path / "reproduction.md").read_text()
    assert "| 2d-4c-no0 | synthetic | 1572 | 2 | 4 | the same |" in first
    assert "0.6446 =" in first  # complete linkage
    stored = (tmp_path / "results.jsonl").read_bytes()
    capsys.readouterr()
    assert run([*arguments, "--table", "tuned-synthetic"]) == 0
    assert "jobs to run" not in capsys.readouterr().err
    assert (tmp_path / "results.jsonl").read_bytes() == stored
    assert "0.8813 =" in (tmp_path / "reproduction.md").read_text()  # iXB
    assert "0.8813 =" in (tmp_path / "reproduction.html").read_text()
