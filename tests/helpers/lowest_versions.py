"""Print the lowest versions that pyproject.toml allows of what the suite needs.

``make test-lowest`` installs what this prints and runs the suite with it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Bounds on what the requirements need in turn, of which pip takes the newest version.
CAPS = (
    "pyparsing<3.3",  # it warns of what matplotlib 3.8 calls, and a warning fails a test
)
PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def lowest(requirement: str) -> str:
    """``name[extra]>=1.2`` as ``name[extra]==1.2``."""
    matched = re.fullmatch(r"([\w.-]+(?:\[[\w,-]+\])?)>=([\w.]+)", requirement)
    if matched is None:
        raise ValueError(f"expected name>=version, got {requirement!r}")
    name, version = matched.groups()
    return f"{name}=={version}"


def required(project: dict[str, Any], extra: str) -> Iterator[str]:
    """The requirements of an extra; of the extras that it names in turn, instead of them."""
    for requirement in project["optional-dependencies"][extra]:
        own = re.fullmatch(rf"{project['name']}\[([\w,-]+)\]", requirement)
        if own is None:
            yield requirement
        else:
            for name in own[1].split(","):
                yield from required(project, name)


def lowest_versions(project: dict[str, Any]) -> list[str]:
    """Every direct requirement of the package and of its development, at its lowest version."""
    everything = [*project["dependencies"], *required(project, "dev")]
    return sorted({lowest(requirement) for requirement in everything})


def declared_project() -> dict[str, Any]:
    """The table [project] of this checkout's pyproject.toml."""
    with PYPROJECT.open("rb") as file:
        return dict(tomllib.load(file)["project"])


if __name__ == "__main__":
    print("\n".join([*lowest_versions(declared_project()), *CAPS]))
