"""``icvi-artmap tune``: search for the vigilances."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from icvi_artmap._support.wording import arrow, better, counted, fixed, number
from icvi_artmap.cli.common import (
    MODEL_SUFFIXES,
    ColumnsOption,
    DataArgument,
    DelimiterOption,
    ExcludeOption,
    IdColumnOption,
    IndexName,
    IndexOption,
    Input,
    JobsOption,
    JsonOption,
    LabelColumnOption,
    LabelsOption,
    Missing,
    MissingOption,
    NumberOption,
    PcaOption,
    QuietOption,
    RefineOption,
    SampleOption,
    SaveOption,
    SeedOption,
    Target,
    agreement,
    check_jobs,
    check_targets,
    expected_columns,
    known_groups,
    label_columns,
    parse_input,
    read_data,
    written_files,
    wrong,
)

if TYPE_CHECKING:
    from rich.console import Console

    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.estimators.vigilance_search.results import SearchResults
    from icvi_artmap.estimators.vigilance_search.search import ICVIARTMAPSearch
    from icvi_artmap.tables import Table

#: How many of the best values are shown.
SHOWN = 10
STORE_SUFFIXES = (".jsonl", ".store")


StartsOption = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Runs from different starts for every pair of vigilances."
    ),
]
RhoAOption = Annotated[
    str | None,
    typer.Option(
        metavar="VALUES",
        help="Vigilances of the categories to try, as 0,0.4,0.8. Default: the paper's grid.",
        show_default=False,
    ),
]
RhoAbOption = Annotated[
    str | None,
    typer.Option(metavar="VALUES", help="The same for the map field.", show_default=False),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Keep every run in this file (.jsonl), and go on from it if it is there.",
        show_default=False,
    ),
]


class Tuned(NamedTuple):
    """A table, the best model of a search on it, and all runs of the search."""

    table: Table
    best: ICVIARTMAP
    runs: list[dict[str, Any]]  # the best first
    ari: float | None  # agreement of the best with the known groups
    notes: list[str]

    @property
    def direction(self) -> int:
        """+1 if greater values of the index are better, -1 if smaller ones are."""
        return self.best.fitted_.index.direction


def tune(
    data: DataArgument,
    clusters: NumberOption,
    index: IndexOption = IndexName.NI,
    columns: ColumnsOption = None,
    exclude: ExcludeOption = None,
    label_column: LabelColumnOption = None,
    id_column: IdColumnOption = None,
    missing: MissingOption = Missing.refuse,
    seed: SeedOption = 0,
    refine: RefineOption = None,
    starts: StartsOption = 1,
    pca: PcaOption = None,
    delimiter: DelimiterOption = None,
    sample: SampleOption = None,
    rho_a: RhoAOption = None,
    rho_ab: RhoAbOption = None,
    jobs: JobsOption = 1,
    store: StoreOption = None,
    output: LabelsOption = None,
    model: SaveOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the vigilances that give the best value of the index.

    The best run is printed; -o and --model keep it. No labels are used for the choice.
    """
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json, output)
    check_jobs(jobs)
    settings = {
        "rho_a": _values("--rho-a", rho_a),
        "rho_ab": _values("--rho-ab", rho_ab),
        "n_starts": starts,
        "n_jobs": jobs,
        "store": store,
        "random_state": seed,
        "verbose": 0 if quiet else 1,
    }
    _check_kept(output, model, store, data, id_column)
    given = parse_input(data, columns, exclude, label_column, id_column, missing)._replace(
        delimiter=delimiter, sample=sample, seed=seed, pca=pca
    )
    with out.progress("reading"):
        table = read_data(given)
        search = _search(clusters, index, refine, settings)
    found = _tuned(table, search)
    out.notes(found.notes)
    _keep(found, model, output, id_column)
    written = written_files(output, model, store)
    facts = _facts(found, given, index.value, written)
    out.result(facts, lambda console: _show(console, found, given.name, index.value, written))


def _check_kept(
    output: str | None, model: str | None, store: str | None, data: str, id_column: str | None
) -> None:
    """Refuse files that could not be written."""
    targets = [
        Target("-o", output, None),
        Target("--model", model, MODEL_SUFFIXES),
        Target("--store", store, STORE_SUFFIXES),
    ]
    check_targets(targets, [data], expected_columns(id_column))


def _search(
    clusters: int, index: IndexName, refine: bool | None, settings: dict[str, Any]
) -> ICVIARTMAPSearch:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.estimators.vigilance_search.search import ICVIARTMAPSearch

    model = ICVIARTMAP(clusters, index=index.value, refine="auto" if refine is None else refine)
    return ICVIARTMAPSearch(model, **settings)


def _tuned(table: Table, search: ICVIARTMAPSearch) -> Tuned:
    """Search, and put the runs in order."""
    import numpy as np

    from icvi_artmap.cli.output import warnings_as_notes
    from icvi_artmap.estimators.numbering import number_by_size

    groups = known_groups(table)
    notes = list(table.notes)
    with warnings_as_notes(notes):
        search.fit(table.X)
    best = search.best_estimator_
    number_by_size(best)
    best.feature_names_in_ = np.array(table.columns, dtype=object)
    results, direction = search.results_, best.fitted_.index.direction
    order = np.argsort(-direction * results.index_value, kind="stable").tolist()
    # Of values that differ by rounding alone the search takes the first, which need not be so here.
    first = results.best()
    runs = [_run(results, i) for i in [first, *(i for i in order if i != first)]]
    return Tuned(table, best, runs, agreement(groups, best.labels_), notes)


def _run(results: SearchResults, i: int) -> dict[str, Any]:
    """One run of the search as JSON has it."""
    return {
        "rho_a": results.rho_a[i],
        "rho_ab": results.rho_ab[i],
        "start": results.start[i],
        "index_value": results.index_value[i],
        "n_clusters": results.n_clusters_found[i],
        "categories": results.n_categories[i],
        "seconds": results.seconds[i],
    }


def _keep(found: Tuned, model: str | None, output: str | None, id_column: str | None) -> None:
    """Write the best model and its labels, if they are asked for."""
    from icvi_artmap.persistence.save_load import save
    from icvi_artmap.tables import write_table

    if model is not None:
        save(found.best, model)
    if output is not None:
        write_table(output, label_columns(found.table, id_column, found.best.labels_))


def _facts(found: Tuned, given: Input, index: str, written: list[str]) -> dict[str, Any]:
    """A search as JSON has it."""
    facts: dict[str, Any] = {
        "data": given.data,
        "rows": len(found.table),
        "columns": found.table.columns,
        "index": index,
        "better": better(found.direction),
        "best": found.runs[0],
        "conclusion": conclusion(found, index),
        "runs": found.runs,
        "labels": found.best.labels_,
        "written": written,
        "notes": found.notes,
    }
    if found.ari is not None:
        facts["ari"] = found.ari
    return facts


def _show(console: Console, found: Tuned, name: str, index: str, written: list[str]) -> None:
    """Print the best run and a table of the best values."""
    best, head = found.runs[0], f"{index} {arrow(found.direction)}"
    rows, runs = counted(len(found.table), "row"), counted(len(found.runs), "run")
    console.print(f"{name}: {rows}, {runs}\n", style="bold")
    console.print(
        f"Best: rho_a = {best['rho_a']:g}, rho_ab = {best['rho_ab']:g}, with {head} "
        f"{number(best['index_value'])} and {counted(best['n_clusters'], 'cluster')}."
    )
    if found.ari is not None:
        console.print(f"Agreement with the known groups (ARI ↑): {fixed(found.ari, 3)}.")
    console.print()
    _show_values(console, found.runs, head)
    console.print(f"\n{conclusion(found, index)}")
    if written:
        console.print(f"\nWritten: {', '.join(written)}")


def conclusion(found: Tuned, index: str) -> str:
    """What the search says about the vigilances, in a sentence."""
    from icvi_artmap.indices.base import same

    best, values = found.runs[0], [run["index_value"] for run in found.runs]
    if all(same(value, best["index_value"]) for value in values):
        if len(found.runs) == 1:
            return "There is one run only: nothing was compared."
        return (
            "All runs are equally good: the vigilances do not matter here. Keep the defaults "
            "(rho_a = 0, rho_ab = 1), as fit has them."
        )
    usual = [run for run in found.runs if (run["rho_a"], run["rho_ab"]) == (0.0, 1.0)]
    if not usual:
        return "The defaults of fit (rho_a = 0, rho_ab = 1) were not tried beside these."
    lead = max(usual, key=lambda run: found.direction * run["index_value"])["index_value"]
    if same(lead, best["index_value"]):
        return (
            "The defaults (rho_a = 0, rho_ab = 1), as fit has them, are as good as any: keep them."
        )
    return (
        f"With the defaults (rho_a = 0, rho_ab = 1) {index} is {number(lead)}, against "
        f"{number(best['index_value'])} for the best. Add --model FILE to keep the best run."
    )


def _show_values(console: Console, runs: list[dict[str, Any]], head: str) -> None:
    """Print a line for each of the best values: many vigilances give the same partition."""
    from icvi_artmap.cli.output import columns

    shown = columns(head, "runs", "rho_a", "rho_ab", "clusters", "categories")
    values = itertools.groupby(runs, key=lambda run: f"{run['index_value']:.9g}")
    for _, same in itertools.islice(values, SHOWN):
        group = list(same)
        shown.add_row(
            number(group[0]["index_value"]),
            str(len(group)),
            *(
                _range([run[name] for run in group])
                for name in ("rho_a", "rho_ab", "n_clusters", "categories")
            ),
        )
    console.print(shown)
    left = sum(1 for _ in values)
    if left:
        console.print(f"... and {left} more values, none better.")


def _range(values: list[float]) -> str:
    least, most = min(values), max(values)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def _values(option: str, text: str | None) -> list[float] | None:
    """Numbers between 0 and 1, separated by commas."""
    if text is None:
        return None
    try:
        values = [float(part) for part in re.split(r"\s*,\s*", text.strip())]
    except ValueError:
        raise wrong(option, f"{text!r} is no list of numbers like 0,0.4,0.8.") from None
    if not all(0.0 <= value <= 1.0 for value in values):
        raise wrong(option, f"{text!r}: vigilances are between 0 and 1.")
    if len(set(values)) < len(values):
        raise wrong(option, f"{text!r}: give every value once.")
    return values
