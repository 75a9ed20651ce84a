"""Every picture of one model: python examples/pictures.py [folder, by default build/pictures]

The flowers of Fisher's iris data, 50 of each of three species, which the model is not told; and two
moons, for clusters that are joined of components.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_iris, make_moons

from icvi_artmap import (
    ICVIARTMAP,
    CategoryDisplay,
    ICVIARTMAPSearch,
    IndexTraceDisplay,
    JoinsDisplay,
    MapFieldDisplay,
    PartitionDisplay,
    ProfileDisplay,
    SearchDisplay,
    SelectionDisplay,
    VATDisplay,
)


def main(folder: Path) -> None:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, species = load_iris(as_frame=True, return_X_y=True)
    choice = ICVIARTMAP("auto", random_state=0).fit(X)
    model = ICVIARTMAP(choice.n_clusters_, rho_a=0.5, rho_ab=0.8, random_state=0)
    model.fit(X, trace=True)
    # Unrefined, as in the paper: refined runs would nearly all end in the same partition.
    template = ICVIARTMAP(model.n_clusters_, refine=False)
    rho_a, rho_ab = np.arange(20) / 20, np.arange(1, 11) / 10
    search = ICVIARTMAPSearch(template, rho_a=rho_a, rho_ab=rho_ab, random_state=0).fit(X)
    moons, _ = make_moons(500, noise=0.05, random_state=0)
    joined = ICVIARTMAP(2, shape="any", random_state=0).fit(moons)
    displays: dict[str, Any] = {
        "vat": VATDisplay.from_data(X, improved=True),
        "selection": SelectionDisplay.from_estimator(choice),
        "partition": PartitionDisplay.from_estimator(model, X),
        "profiles": ProfileDisplay.from_estimator(model),
        "categories": CategoryDisplay.from_estimator(model, X, features=(2, 3)),
        "map_field": MapFieldDisplay.from_estimator(model),
        "index_trace": IndexTraceDisplay.from_estimator(model, X, reference=species),
        "joins": JoinsDisplay.from_estimator(joined),
        "search": SearchDisplay.from_estimator(search),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, display in displays.items():
        path = folder / f"{name}.png"
        display.plot().figure_.savefig(path, dpi=64)
        print(path)
    plt.close("all")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/pictures"))
