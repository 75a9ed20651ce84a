"""Compiled code: its key, its folder, what can go wrong there, and the way without numba's insides.

Kernels here are tiny. What needs the package's own sources, or numba without something, is a
process of its own.
"""

from __future__ import annotations

import errno
import gc
import json
import operator
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target
from numba.extending import overload

import icvi_artmap
from icvi_artmap import ICVIARTMAP, index_value, vat
from icvi_artmap._compile import cache, notes, numba_cache, numba_internals
from icvi_artmap._compile.flags import FLAGS
from icvi_artmap._compile.jit import inline, jit, nothing_kept, shared

PACKAGE = Path(icvi_artmap.__file__).parent
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def new_kernel() -> Any:
    """Always the same kernel, as another process would have it."""

    def double(x):
        return 2.0 * x

    return jit(double)


def is_found(kernel: Any) -> bool:
    """Call it, and tell whether its code was found on disk."""
    assert kernel(3.0) == 6.0
    return sum(kernel.stats.cache_hits.values()) == 1


def use_place(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", chosen)
    cache.cache_directory.cache_clear()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What NUMBA_CACHE_DIR names. No file is there yet."""
    path = tmp_path / "chosen"
    use_place(str(path), monkeypatch)
    yield path
    monkeypatch.undo()
    cache.cache_directory.cache_clear()


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def run(
    program: str, folder: Path, *arguments: str, package: Path = PACKAGE, **more: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **more}
    environment["PYTHONPATH"] = str(package.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


# --- the key -------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, tmp_path / "icvi_artmap", ignore=ignored))


def test_the_key_is_the_same_wherever_the_package_lies(copy: Path) -> None:
    assert cache.source_key(copy) == cache.source_key(PACKAGE) != ""


@pytest.mark.parametrize("room", ROOMS)
def test_the_key_knows_the_rooms_with_kernels_and_no_other(room: str, copy: Path) -> None:
    before = cache.source_key(copy)
    with open(sorted((copy / room).rglob("*.py"))[-1], "a", encoding="utf-8") as file:
        file.write("# a remark\n")
    assert (cache.source_key(copy) != before) == (room in cache.KERNEL_ROOMS)


def test_the_key_knows_names_of_files(copy: Path) -> None:
    before = cache.source_key(copy)
    (copy / "indices" / "ch.py").rename(copy / "indices" / "hc.py")
    assert cache.source_key(copy) != before


@pytest.mark.parametrize("package", [numba, llvmlite])
def test_the_key_knows_the_compilers(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.source_key(PACKAGE)
    monkeypatch.setattr(package, "__version__", "0.0.0")
    assert cache.source_key(PACKAGE) != before


def test_without_sources_nothing_is_kept(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an archive, say: there would be no telling one version from another."""
    assert cache.source_key(tmp_path) == ""
    monkeypatch.setattr(cache, "_KEY", "")
    assert cache.cache_directory() == ""
    assert not is_found(new_kernel())
    assert not place.exists()


VALUE = """
import numpy as np
from icvi_artmap import index_value
print(index_value(np.arange(20.0).reshape(10, 2) ** 2, np.arange(10) % 2, "CH"))
"""


def test_a_changed_source_is_compiled_again_and_so_is_the_old_one(
    copy: Path, tmp_path: Path
) -> None:
    """CH is twice as large in between. The kernel is in another file than the formula."""
    source = copy / "indices" / "ch.py"
    text = source.read_text(encoding="utf-8")
    doubled = text.replace("return separation / spread", "return 2.0 * separation / spread")
    assert doubled != text
    values = []
    for content in (doubled, text):
        source.write_text(content, encoding="utf-8")
        values.append(float(run(VALUE, tmp_path / "kept", package=copy).stdout))
    X = np.arange(20.0).reshape(10, 2) ** 2
    assert values[1] == index_value(X, np.arange(10) % 2, "CH")
    assert values[0] == 2.0 * values[1]


# --- the folder ----------------------------------------------------------------------------------


def test_kernels_are_kept_in_a_folder_of_the_key_within_the_chosen_one(place: Path) -> None:
    assert not is_found(new_kernel())
    assert is_found(new_kernel())
    (kernel,) = files(place)
    assert kernel.parent == place / "icvi-artmap" / f"kernels-{cache._KEY}"
    assert str(kernel.parent) == cache.cache_directory() == new_kernel().stats.cache_path


def test_other_types_are_another_kernel(place: Path) -> None:
    assert not is_found(new_kernel())
    assert new_kernel()(3) == 6.0
    assert len(files(place)) == 2
    assert is_found(new_kernel())


def from_file(path: Path, factor: str) -> Any:
    path.write_text(f"def kernel(x):\n    return {factor} * x\n", encoding="utf-8")
    numba_cache._source_hash.cache_clear()
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    return jit(namespace["kernel"])


def test_a_kernel_outside_the_package_is_known_by_its_own_file(place: Path, tmp_path: Path) -> None:
    """The tests have some."""
    path = tmp_path / "elsewhere.py"
    results = [from_file(path, factor)(3.0) for factor in ("2.0", "4.0", "2.0")]
    assert results == [6.0, 12.0, 6.0]
    assert is_found(from_file(path, "2.0"))


def test_a_kernel_without_a_file_is_not_kept(place: Path) -> None:
    namespace: dict[str, Any] = {"__name__": __name__}
    exec("def kernel(x):\n    return 2.0 * x\n", namespace)
    assert not is_found(jit(namespace["kernel"]))
    assert not is_found(jit(namespace["kernel"]))
    assert files(place) == []


def test_kernels_can_be_read_as_the_mask_says(place: Path) -> None:
    new_kernel()(3.0)
    (kernel,) = files(place)
    kernel.with_name("ordinary").write_bytes(b"")
    assert kernel.stat().st_mode == kernel.with_name("ordinary").stat().st_mode


def test_without_a_choice_kernels_lie_beside_the_package(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path / "package")
    use_place("", monkeypatch)
    assert Path(cache.cache_directory()).parent == tmp_path / "package" / "__pycache__"


def test_else_in_the_users_cache(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package").write_text("a file: there can be no folder in it")
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path / "package")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    use_place("", monkeypatch)
    assert Path(cache.cache_directory()).parent == tmp_path / "user" / "icvi-artmap"


@pytest.mark.parametrize("is_chosen", [True, False])
def test_else_nothing_is_kept(
    is_chosen: bool, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numba would look for a place of its own, and leave out our key there."""
    obstacle = tmp_path / "obstacle"
    obstacle.write_text("a file: there can be no folder in it")
    monkeypatch.setattr(cache, "_PACKAGE", obstacle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(obstacle))
    use_place(str(obstacle) if is_chosen else "", monkeypatch)
    assert cache.cache_directory() == ""
    before = files(Path(__file__).parent)  # numba's first choice: beside the function's file
    assert not is_found(new_kernel())
    assert not is_found(new_kernel())
    assert files(tmp_path) == [obstacle]
    assert files(Path(__file__).parent) == before


# --- what goes wrong with files ------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: bytes(len(content)),
        lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
    ],
    ids=["empty", "first bytes", "half", "last byte lost", "zeros", "one bit"],
)
def test_a_damaged_file_is_compiled_again(damage: Callable[[bytes], bytes], place: Path) -> None:
    new_kernel()(3.0)
    (kernel,) = files(place)
    whole = kernel.read_bytes()
    kernel.write_bytes(damage(whole))
    assert not is_found(new_kernel())
    assert is_found(new_kernel())
    assert files(place) == [kernel]


def test_a_file_for_other_types_is_not_taken(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types have the same name, say."""
    monkeypatch.setattr(
        numba_cache.KernelCache, "_path", lambda *_: Path(cache.cache_directory()) / "one.kernel"
    )
    assert new_kernel()(3) == 6.0
    assert not is_found(new_kernel())


def test_a_full_disk_does_not_stop_the_work(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(notes.NOT_KEPT, "said", False)
    assert not is_found(new_kernel())
    assert "No space" not in capfd.readouterr().err  # quiet
    monkeypatch.delenv("ICVI_ARTMAP_QUIET")
    monkeypatch.setattr(notes.COMPILING, "said", True)
    assert not is_found(new_kernel())
    assert not is_found(new_kernel())
    assert capfd.readouterr().err == (
        "icvi-artmap: compiled code could not be kept, the next run compiles again: "
        "OSError: [Errno 28] No space left on device\n"
    )
    assert files(place) == []


LIMITED = """
import resource
from icvi_artmap._compile.jit import jit
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
print(jit(lambda x: 2.0 * x)(3.0))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
def test_nothing_of_a_file_stays_that_could_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "limited.py").write_text(LIMITED, encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import limited"
    done = run(program, tmp_path / "kept", ICVI_ARTMAP_QUIET="", PYTHONDONTWRITEBYTECODE="1")
    assert done.stdout == "6.0\n"
    assert done.stderr.count("could not be kept") == 1
    assert files(tmp_path / "kept") == []


def test_a_folder_that_is_removed_meanwhile_is_made_again(place: Path) -> None:
    new_kernel()(3.0)
    shutil.rmtree(place)
    assert not is_found(new_kernel())
    assert is_found(new_kernel())


def test_a_folder_that_can_no_longer_be_written_does_not_stop_the_work(place: Path) -> None:
    new_kernel()(3.0)
    shutil.rmtree(place)
    place.write_text("a file: there can be no folder in it")
    assert not is_found(new_kernel())
    assert not is_found(new_kernel())


# --- former versions -----------------------------------------------------------------------------

OLD, RECENT = f"kernels-{1:016x}", f"kernels-{2:016x}"
NOT_OURS = ("kernels-of-wheat", f"kernels-{3:016x}-copy", "other")


def fill(parent: Path) -> None:
    for name in (OLD, RECENT, *NOT_OURS):
        (parent / name).mkdir(parents=True)
        (parent / name / "file").write_text("")
        age = 3600.0 if name == RECENT else 30 * 86400.0
        os.utime(parent / name, (time.time() - age,) * 2)


def test_beside_the_package_a_new_version_replaces_all_others(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "package" / "__pycache__")
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path / "package")
    use_place("", monkeypatch)
    folder = Path(cache.cache_directory())
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, *NOT_OURS}


def test_in_a_shared_place_what_was_used_recently_stays(place: Path) -> None:
    fill(place / "icvi-artmap")
    folder = Path(cache.cache_directory())
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, RECENT, *NOT_OURS}


def test_use_makes_a_folder_recent(place: Path) -> None:
    folder = Path(cache.cache_directory())
    os.utime(folder, (0, 0))
    cache.cache_directory.cache_clear()
    cache.cache_directory()
    assert time.time() - folder.stat().st_mtime < 60


def test_only_a_new_folder_removes_others(place: Path) -> None:
    folder = Path(cache.cache_directory())
    fill(folder.parent)
    cache.cache_directory.cache_clear()
    cache.cache_directory()
    assert (folder.parent / OLD).is_dir()


def test_former_folders_that_others_remove_at_the_same_time(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(cache.cache_directory())
    gone = folder.parent / OLD
    monkeypatch.setattr(Path, "iterdir", lambda _: iter([gone, folder]))
    cache.remove_former(folder, shared=True)
    assert folder.is_dir()
    cache.remove_former(gone / "and" / "its parent", shared=False)


# --- a user's code -------------------------------------------------------------------------------


def test_nothing_is_kept_until_the_last_leaves(place: Path) -> None:
    """Of two that are nested the one that began first ends first."""
    first, second = nothing_kept(), nothing_kept()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not is_found(new_kernel())
    assert files(place) == []
    second.__exit__(None, None, None)
    assert not is_found(new_kernel())
    with nothing_kept():
        assert not is_found(new_kernel())
    assert is_found(new_kernel())


def test_other_threads_keep_their_kernels(place: Path) -> None:
    with nothing_kept():
        thread = threading.Thread(target=lambda: new_kernel()(3.0))
        thread.start()
        thread.join()
        assert len(files(place)) == 1
        assert not is_found(new_kernel())
    assert is_found(new_kernel())


# --- nobody else sees it -------------------------------------------------------------------------

SEEN: list[tuple[bool, Any]] = []


def look(key: object = None) -> float:
    """In compiled code: note whether the collector is on, and numba's order of templates."""
    raise NotImplementedError


def templates(context: Any, function: Any = bool) -> tuple[Any, ...]:
    known: tuple[Any, ...] = context._lookup_global(function).templates
    return known


@overload(look)
def _look(key: object = None) -> Callable[..., float]:
    SEEN.append((gc.isenabled(), templates(cpu_target.typing_context)))
    return lambda key=None: 1.0


def failing() -> float:
    raise NotImplementedError


@overload(failing)
def _failing() -> None:
    raise ZeroDivisionError("while it is compiled")


@pytest.fixture
def seen() -> list[tuple[bool, Any]]:
    numba.njit(lambda a: a[0])(np.ones(1))  # numba loads what it knows
    SEEN.clear()
    return SEEN


def test_only_our_own_compilations_pause_the_collector(seen: list[tuple[bool, Any]]) -> None:
    usual = templates(cpu_target.typing_context)
    assert gc.isenabled()
    with nothing_kept():
        assert jit(lambda: look(1.0))() == 1.0
    assert gc.isenabled()
    assert numba.njit(lambda: look(True))() == 1.0
    assert gc.isenabled()
    assert [enabled for enabled, _ in seen] == [False, True]
    assert [known for _, known in seen] == [usual, usual]
    assert templates(cpu_target.typing_context) == usual


def test_the_collector_is_on_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), nothing_kept():
        jit(lambda: failing())()
    assert gc.isenabled()


def test_the_collector_stays_off_if_it_was() -> None:
    gc.disable()
    try:
        with nothing_kept():
            jit(lambda x: x)(1.0)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_thread_turns_the_collector_on() -> None:
    paused = numba_internals._CollectorPaused()
    paused.__enter__()
    paused.__enter__()
    paused.__exit__()
    assert not gc.isenabled()
    paused.__exit__()
    assert gc.isenabled()


def test_our_own_context_has_numbas_templates_in_another_order() -> None:
    cpu_target.typing_context.refresh()
    context = numba_internals._ArraysFirst(cpu_target.typing_context)
    for function in (operator.getitem, operator.setitem, bool, operator.eq, operator.ne):
        usual = templates(cpu_target.typing_context, function)
        ours = templates(context, function)
        assert sorted(map(id, ours)) == sorted(map(id, usual))
        overloads = [issubclass(each, numba_internals._OverloadFunctionTemplate) for each in ours]
        assert overloads == sorted(overloads)
    assert templates(context, bool) != templates(cpu_target.typing_context, bool)
    assert context._lookup_global(len) is cpu_target.typing_context._lookup_global(len)


def test_numbas_own_functions_are_compiled_once_for_both_contexts(
    seen: list[tuple[bool, Any]],
) -> None:
    with nothing_kept():
        assert jit(lambda: look())() == 1.0
        assert jit(lambda: look() + look())() == 2.0
        assert jit(lambda x: x + look())(1.0) == 2.0
    assert numba.njit(**FLAGS)(lambda: look())() == 1.0
    assert len(seen) == 1


def test_what_others_add_later_is_known_to_our_compilers() -> None:
    context = numba_internals._ArraysFirst(cpu_target.typing_context)
    before = templates(context)

    class Box(numba.types.Type):
        def __init__(self) -> None:
            super().__init__(name="Box")

    @overload(bool)
    def _bool(box: Any) -> Any:
        return (lambda box: True) if isinstance(box, Box) else None

    def later() -> None: ...

    @overload(later)
    def _later() -> Any:
        return lambda: 7.0

    part = inline(lambda: later())
    with nothing_kept():
        assert jit(lambda: part())() == 7.0
    assert set(templates(context)) == set(templates(cpu_target.typing_context)) > set(before)


# --- parts ---------------------------------------------------------------------------------------


def with_parts() -> Any:
    """A kernel with both kinds of parts."""
    first, second = inline(lambda a: a[0]), shared(lambda a: a[1])
    return jit(lambda a: first(a) + second(a))


def test_parts_are_not_called_from_python() -> None:
    for decorator in (inline, shared):
        with pytest.raises(TypeError, match="only kernels can call it"):
            decorator(lambda x: x)(1.0)


# --- without numba's insides ---------------------------------------------------------------------


def test_insides_that_fail_when_tried_are_not_used(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def changed(*_: Any) -> None:
        raise AttributeError("numba has another name for it")

    monkeypatch.setattr(numba_internals, "_works", None)
    monkeypatch.setattr(numba_internals._Part, "_finalize_final_module", changed)
    monkeypatch.setattr(notes.PLAIN, "said", False)
    monkeypatch.setattr(notes.COMPILING, "said", True)
    monkeypatch.delenv("ICVI_ARTMAP_QUIET")
    with nothing_kept():
        assert with_parts()(np.array([1.0, 2.0])) == 3.0
        assert with_parts()(np.array([1.0, 2.0])) == 3.0
    assert numba_internals._works is False
    assert capfd.readouterr().err == (
        "icvi-artmap: numba has changed inside, compiling takes longer: "
        "AttributeError: numba has another name for it\n"
    )


def test_insides_that_compute_something_else_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_internals, "_works", None)
    monkeypatch.setattr(numba_internals.np, "ones", np.zeros)
    assert not numba_internals._insides_work()


TABLE = """
import json, sys
import numpy as np
X = np.random.RandomState(0).normal(size=(60, 2))
X[:30] += 3.0
"""
FIT = """
from icvi_artmap import ICVIARTMAP
model = ICVIARTMAP(3, index="CH", kmeans_trials=1, random_state=0).fit(X)
print(json.dumps(model.labels_.tolist()))
"""
ORDER = """
import importlib, numba
numba.njit(lambda x: x)(1.0)  # numba itself has what it needs
module, _, name = sys.argv[1].rpartition(".")
delattr(importlib.import_module(module), name)
from icvi_artmap import vat
print(json.dumps(vat(X).tolist()))
"""


def table() -> Any:
    """That of the programs."""
    X = np.random.RandomState(0).normal(size=(60, 2))
    X[:30] += 3.0
    return X


def test_plain_numba_gives_the_same_labels(tmp_path: Path) -> None:
    """It is chosen by hand. Nothing is kept then, and nothing that is kept is used."""
    done = run(TABLE + FIT, tmp_path, ICVI_ARTMAP_PLAIN_NUMBA="1")
    model = ICVIARTMAP(3, index="CH", kmeans_trials=1, random_state=0).fit(table())
    assert json.loads(done.stdout) == model.labels_.tolist()
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("removed", "is_kept"),
    [("numba.core.codegen.JITCodeLibrary", True), ("numba.core.caching.NullCache", False)],
)
def test_a_kernel_with_a_numba_that_lacks_something(
    removed: str, is_kept: bool, tmp_path: Path
) -> None:
    done = run(TABLE + ORDER, tmp_path, removed, ICVI_ARTMAP_QUIET="")
    assert json.loads(done.stdout) == vat(table()).tolist()
    assert (
        f"compiling takes longer: cannot import name '{removed.rpartition('.')[2]}'" in done.stderr
    )
    assert bool(files(tmp_path)) == is_kept
