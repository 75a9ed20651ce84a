"""The paper's search for the vigilances, as a picture: draws docs/images/search.png."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch
from icvi_artmap.datasets import make_gaussian_clusters

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "search.png"


def main() -> None:
    X, _ = make_gaussian_clusters(4, 2, random_state=0)
    # The paper's algorithm: refined runs would nearly all end in the same partition.
    template = ICVIARTMAP(n_clusters=4, refine=False)
    search = ICVIARTMAPSearch(template, n_jobs=2, random_state=0).fit(X)
    figure, ax = plt.subplots(figsize=(9.4, 5), layout="constrained")
    search.results_.plot(ax)
    figure.savefig(PICTURE, dpi=80)
    print(f"{search.best_params_}\npicture: {PICTURE.relative_to(PICTURE.parents[2])}")


if __name__ == "__main__":
    main()
