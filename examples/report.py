"""A report on a clustering: writes build/report.html, one file to open in any browser.

The wines that scikit-learn brings along: 13 measurements of 178 wines of three cultivars, which the
clustering does not see.
"""

from pathlib import Path

from sklearn.datasets import load_wine

from icvi_artmap import ICVIARTMAP, write_report

REPORT = Path(__file__).resolve().parents[1] / "build" / "report.html"


def main() -> None:
    wines = load_wine(as_frame=True)
    model = ICVIARTMAP(n_clusters=range(2, 9), index="CH", random_state=0).fit(wines.data)
    REPORT.parent.mkdir(exist_ok=True)
    write_report(
        REPORT,
        model,
        wines.data,
        truth=wines.target_names[wines.target],
        title="Wines by what was measured in them",
        notes=["The cultivar was left out of the clustering and is compared with it."],
        command="python examples/report.py",
    )
    print(f"report: {REPORT.relative_to(REPORT.parents[1])}")


if __name__ == "__main__":
    main()
