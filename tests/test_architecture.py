"""Production never imports the tests, and the oracle never imports what it judges."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from icvi_artmap._compile.cache import KERNEL_ROOMS

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


# --- rooms with kernels --------------------------------------------------------------------------

PACKAGE = CHECKOUT / "src" / "icvi_artmap"


def imported_names(tree: ast.AST) -> dict[str, str]:
    """From each name that an import binds to the full name of what it is bound to."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def sources(in_kernel_rooms: bool) -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if (path.relative_to(PACKAGE).parts[0] in KERNEL_ROOMS) == in_kernel_rooms:
            yield path


COMPILING = ("icvi_artmap._compile.jit.", "icvi_artmap._compile.simd.", "numba.")


def test_only_rooms_in_the_key_of_the_kernel_cache_have_kernels():
    """Outside, numba is asked for its version, and the cache for its folder."""
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in sources(in_kernel_rooms=False)
        for name in imported_names(ast.parse(path.read_text(encoding="utf-8"))).values()
        if name.startswith(COMPILING)
    }
    assert not found
    for room in KERNEL_ROOMS:
        texts = [path.read_text(encoding="utf-8") for path in (PACKAGE / room).rglob("*.py")]
        uses = {name for text in texts for name in imported_names(ast.parse(text)).values()}
        assert any(name.startswith(COMPILING) for name in uses), f"{room} has no kernels"


def test_kernels_use_nothing_from_rooms_that_are_not_in_the_key():
    """A number from there would be compiled in, and stay when it is changed there."""
    kernel_rooms = tuple(f"icvi_artmap.{room}." for room in KERNEL_ROOMS)
    seen, found = 0, set()
    for path in sources(in_kernel_rooms=True):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        foreign = {
            name
            for name, full in imported_names(tree).items()
            if full.startswith("icvi_artmap.") and not full.startswith(kernel_rooms)
        }
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and function.decorator_list:
                used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                decorators = {getattr(node, "id", "") for node in function.decorator_list}
                if decorators & {"inline", "jit", "shared"}:
                    seen += 1
                    found |= {f"{path.name}: {function.name} uses {n}" for n in used & foreign}
    assert seen > 50
    assert not found
