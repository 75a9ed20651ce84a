"""``icvi-artmap info``: what is installed here, for a bug report."""

from __future__ import annotations

from typing import Annotated

import typer

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "matplotlib", "pandas", "pyarrow")


def info(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Show versions, the machine, and where compiled code is kept."""
    import json
    import os
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from icvi_artmap._compile.cache import cache_directory
    from icvi_artmap._support.version import __version__

    facts = {
        "icvi-artmap": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": str(os.cpu_count()),
        "compiled code": cache_directory() or "not kept: no folder can be written",
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        width = max(map(len, facts))
        for name, fact in facts.items():
            print(f"{name:{width}}  {fact}")
