"""Who may import whom, what may be known where, and what rooms may read of each other."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from icvi_artmap._compile.cache import KERNEL_ROOMS
from icvi_artmap.indices.registry import NAMES

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = CHECKOUT / "src" / "icvi_artmap"


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


def knowledge_of_indices(tree: ast.Module) -> Iterator[str]:
    """Yield what a module knows of a certain index: its state, its name or its ridge."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            kinds = ast.unparse(node.args[1])
            if "State" in kinds.replace("RandomState", ""):
                yield f"line {node.lineno} asks for the state of an index: {ast.unparse(node)}"
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            constants = [c for side in sides for c in ast.walk(side) if isinstance(c, ast.Constant)]
            if any(isinstance(c.value, str) and c.value.upper() in NAMES for c in constants):
                yield f"line {node.lineno} compares with the name of an index: {ast.unparse(node)}"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            base, exponent = ast.unparse(node.left), ast.unparse(node.right)
            if base in ("10", "10.0") and "12" in exponent:
                yield f"line {node.lineno} has a ridge: {base} ** {exponent}"


def test_an_index_is_known_in_its_own_file_alone():
    found = [
        f"{path.relative_to(PACKAGE).as_posix()}, {what}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "indices"
        for what in knowledge_of_indices(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(state, NIState)",
        "isinstance(state, (ni.NIState, int))",
        'index.name == "NI"',
        'index.name in ("CH", "WB")',
        'index == "db"',
        "10.0 ** (-12.0 / d)",
        "10 ** (-12 / X.shape[1])",
    ],
)
def test_knowledge_of_indices_is_found(source):
    assert len(list(knowledge_of_indices(ast.parse(source)))) == 1


def test_what_is_no_knowledge_of_an_index():
    source = 'isinstance(seed, RandomState); f(index="NI"); name == "auto"; 10.0 ** digits'
    assert not list(knowledge_of_indices(ast.parse(source)))


#: Rooms that see estimators from outside, as users do.
OUTSIDE = ("cli", "app", "report", "plotting", "inspection", "persistence", "reproduction")
#: Public in spite of their names.
OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}


def private_attributes(source: str) -> Iterator[str]:
    """Yield each underscore attribute of anything but ``self`` and ``cls``, by name too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            name, written = node.attr, ast.unparse(node)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"getattr", "hasattr", "setattr", "delattr"}
            and isinstance(node.args[1], ast.Constant)
        ):
            own, name, written = False, str(node.args[1].value), ast.unparse(node)
        else:
            continue
        private = name.startswith("_") and not name.startswith("__")
        if private and not own and name not in OF_NAMED_TUPLES:
            yield written


def test_estimators_are_seen_from_outside() -> None:
    paths = [path for room in OUTSIDE for path in sorted((PACKAGE / room).rglob("*.py"))]
    names = {path.relative_to(PACKAGE).as_posix(): path for path in paths}
    assert len(names) > 40
    found = {
        f"{name}: {written}"
        for name, path in names.items()
        for written in private_attributes(path.read_text(encoding="utf-8"))
    }
    assert not found


def test_private_attributes_are_found() -> None:
    source = "a._b\nself._c\ncls._d\nself.e._f()\ng._replace()\nh.__doc__\nhasattr(i, '_j')\n"
    assert set(private_attributes(source)) == {"a._b", "self.e._f", "hasattr(i, '_j')"}


# --- rooms with kernels --------------------------------------------------------------------------


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


COMPILING = (
    *(f"icvi_artmap._compile.{module}." for module in ("jit", "sets", "simd", "vectors")),
    "numba.",
)


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
