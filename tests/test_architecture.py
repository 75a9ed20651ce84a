"""Production never imports the tests, the oracle never what it judges, nor a test file another."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]


def imported_packages(path: Path) -> Iterator[str]:
    """Yield the top-level name of each absolute import in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("src", {"oracle", "tests", "conftest", "pytest", "hypothesis"}),
        ("tests/oracle", {"icvi_artmap", "numba"}),
        # What two test files need is a module of its own, in tests/helpers.
        ("tests", {path.stem for path in CHECKOUT.glob("tests/test_*.py")} | {"conftest"}),
    ],
)
def test_imports_stay_on_their_side(folder, forbidden):
    found = {
        f"{path.relative_to(CHECKOUT).as_posix()} imports {name}"
        for path in sorted((CHECKOUT / folder).rglob("*.py"))
        for name in imported_packages(path)
        if name in forbidden
    }
    assert not found


def test_imports_are_found_in_functions_too(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("import a.b\nfrom . import c\ndef f():\n    from d.e import g\n")
    assert list(imported_packages(path)) == ["a", "d"]
