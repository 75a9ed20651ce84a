"""What make test-lowest installs."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.lowest_versions import declared_project, lowest, lowest_versions

PROJECT: dict[str, Any] = {
    "name": "icvi-artmap",
    "dependencies": ["numpy>=2.0", "scikit-learn>=1.6"],
    "optional-dependencies": {
        "plot": ["matplotlib>=3.8.4"],
        "all": ["icvi-artmap[plot]"],
        "dask": ["dask[distributed]>=2024.8"],
        "dev": ["icvi-artmap[all,dask]", "pytest>=8.2"],
        "docs": ["sphinx>=7.3"],
    },
}


def test_extras_are_followed_and_bounds_are_met_exactly() -> None:
    assert lowest_versions(PROJECT) == [
        "dask[distributed]==2024.8",
        "matplotlib==3.8.4",
        "numpy==2.0",
        "pytest==8.2",
        "scikit-learn==1.6",
    ]


@pytest.mark.parametrize("requirement", ["numpy", "numpy>1", "numpy>=2,<3", "numpy==2.0"])
def test_other_requirements_are_refused(requirement: str) -> None:
    with pytest.raises(ValueError, match=r"expected name>=version, got 'numpy"):
        lowest(requirement)


def test_every_requirement_of_the_project_has_a_lowest_version() -> None:
    assert {"numba", "pytest", "pandas"} <= {
        line.split("==")[0] for line in lowest_versions(declared_project())
    }
