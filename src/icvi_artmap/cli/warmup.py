"""``icvi-artmap warmup``: compile now what would be compiled when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from icvi_artmap.cli.common import IndexName, JsonOption, QuietOption

if TYPE_CHECKING:
    from rich.console import Console

#: What is compiled for clusters of any shape.
ANY_SHAPE = "any-shape"


def warmup(
    index: Annotated[
        list[IndexName] | None,
        typer.Argument(case_sensitive=False, help="Indices; all by default.", show_default=False),
    ] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compile what later commands would wait for.

    It takes about ten seconds for every index and for clusters of any shape, and no time if they
    are compiled already.
    """
    import time

    from icvi_artmap.cli.output import Output, columns, seconds

    out = Output(quiet, as_json)
    wanted = [name.value for name in dict.fromkeys(index or list(IndexName))]
    if not index:
        wanted.append(ANY_SHAPE)
    took = {}
    with out.progress("loading", len(wanted)) as bar:
        from icvi_artmap._compile.cache import cache_directory

        for name in wanted:
            bar.say(f"compiling {name}")
            began = time.perf_counter()
            if name == ANY_SHAPE:
                use_any_shape()
            else:
                use(name)
            took[name] = seconds(began)
            bar.step()

    def show(console: Console) -> None:
        shown = columns(("left", "what"), "seconds")
        for name, time_taken in took.items():
            shown.add_row(name, f"{time_taken:.1f}")
        console.print(shown)
        place = cache_directory()
        kept = f"kept in {place}" if place else "not kept: no folder can be written"
        console.print(f"\nCompiled code is {kept}", soft_wrap=True)

    out.result({"seconds": took, "compiled_code": cache_directory()}, show)


def use(index: str) -> None:
    """Do on a small table all that the commands do with an index."""
    import warnings

    from icvi_artmap import explain
    from icvi_artmap.datasets import make_gaussian_clusters
    from icvi_artmap.estimators.art_family import FuzzyART
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.prediction.index_value import index_value

    X, _ = make_gaussian_clusters(3, 2, n_samples=90, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICVIARTMAP(range(2, 4), index=index, refine=True, random_state=0).fit(X)
        model.predict(X)
        explain(model, X[:1])
        explain(model, X[:1], samples=[0])
        ICVIARTMAP(3, index=index, rho_a=0.5, rho_ab=0.5, random_state=0).fit(X)
        index_value(X, model.labels_, index)
        FuzzyART(0.5).fit(X)


def use_any_shape() -> None:
    """Fit and predict clusters of any shape on a small table."""
    from sklearn.datasets import make_circles

    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

    X, _ = make_circles(200, factor=0.4, noise=0.03, random_state=0)
    ICVIARTMAP(2, shape="any", random_state=0).fit(X).predict(X[:1])
