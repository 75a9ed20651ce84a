"""The pages hold together: links, code blocks, the list of public names, numbers quoted."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

import icvi_artmap
from icvi_artmap import datasets, deep, distributed, metrics, streaming

CHECKOUT = Path(__file__).resolve().parents[1]
DOCS = CHECKOUT / "docs"
PAGES = sorted([*CHECKOUT.glob("*.md"), *DOCS.glob("*.md")])
#: Written by Sphinx itself: a page of ours would be lost.
RESERVED = {"genindex", "modindex", "py-modindex", "search"}

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix()
)


def without_code(text: str) -> str:
    """Blocks of code left out; also what is quoted in a line."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]+`", "`code`", text)


def links(text: str) -> list[str]:
    """Where the links and pictures of a page lead, addresses on the network left out."""
    found = re.findall(r"\]\(([^()\s]+)\)", without_code(text))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(text: str) -> set[str]:
    """What headings can be linked to as."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


def python_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def helper(name: str) -> ModuleType:
    """A module of the site, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"no heading for {link}"


def test_links_are_found() -> None:
    text = (
        "# A `b` (c): d\n[x](a.md) ![y](i.png) [z](https://a.b) `[q](no.md)`\n```\n[r](no)\n```\n"
    )
    assert links(text) == ["a.md", "i.png"]
    assert anchors(text) == {"a-b-c-d"}


@every_page
def test_python_blocks_compile(page: Path) -> None:
    for block in python_blocks(page.read_text(encoding="utf-8")):
        examples = doctest.DocTestParser().get_examples(block)
        code = "".join(example.source for example in examples) if examples else block
        compile(code, page.name, "exec")


def test_there_are_python_blocks() -> None:
    assert sum(len(python_blocks(page.read_text(encoding="utf-8"))) for page in PAGES) > 20


def test_every_page_is_in_a_toctree() -> None:
    listed: list[str] = []
    for name in ("index.rst", "guide.rst"):
        text = (DOCS / name).read_text(encoding="utf-8")
        for toctree in re.findall(r"^\.\. toctree::\n((?: .*\n|\n)+)", text, re.M):
            entries = re.findall(r"^   (?!:)(.+)$", toctree, re.M)
            listed += [re.sub(r".*<(.+)>", r"\1", entry) for entry in entries]
    pages = {page.stem for page in DOCS.glob("*.md")}
    assert pages <= set(listed)
    assert len(listed) == len(set(listed))
    assert not pages & RESERVED


def test_every_public_name_is_in_the_list() -> None:
    public_names = helper("public_names")
    listed = [name for names in public_names.sections().values() for name in names]
    expected = [f"icvi_artmap.{name}" for name in icvi_artmap.__all__]
    expected += [f"icvi_artmap.datasets.{name}" for name in datasets.__all__]
    expected += [f"icvi_artmap.deep.{name}" for name in deep.__all__]
    expected += [f"icvi_artmap.distributed.{name}" for name in distributed.__all__]
    expected += [f"icvi_artmap.metrics.{name}" for name in metrics.__all__]
    expected += [f"icvi_artmap.streaming.{name}" for name in streaming.__all__]
    assert sorted(listed) == sorted([*expected, *public_names.RESULTS])
    page = public_names.page()
    for name in listed:
        if name in public_names.CONSTANTS:
            assert f".. py:data:: {name}\n" in page
            assert f"~{name.removeprefix('icvi_artmap.')}\n" not in page
        else:
            assert f"\n   ~{name.removeprefix('icvi_artmap.')}\n" in page
            assert callable(eval(name, {"icvi_artmap": icvi_artmap})), f"{name}: see CONSTANTS"


def test_the_list_is_written_only_if_it_changes(tmp_path: Path) -> None:
    public_names = helper("public_names")
    path = tmp_path / "api" / "index.rst"
    public_names.write(path)
    assert path.read_text(encoding="utf-8") == public_names.page()
    before = path.stat().st_mtime_ns
    public_names.write(path)
    assert path.stat().st_mtime_ns == before


def test_names_that_end_in_an_underscore_are_no_links() -> None:
    lines = [
        "ndarray of shape (n_clusters_, d), ``labels_``, :meth:`fit`, **labels_** [1]_ n_iter_",
        ">>> model.n_clusters_",
        "n_clusters_",
        "",
        "as in labels_.",
    ]
    helper("docstrings").escape_names(None, "class", "name", None, None, lines)
    assert lines == [
        r"ndarray of shape (n_clusters\_, d), ``labels_``, :meth:`fit`, **labels_** [1]_ n_iter\_",
        ">>> model.n_clusters_",
        "n_clusters_",
        "",
        r"as in labels\_.",
    ]


def test_limits_quotes_what_was_measured() -> None:
    """Values of ARI and NI, to four digits, are those of the page that is made by measuring."""
    quoted = re.findall(r"-?\d+\.\d{4}", (DOCS / "limits.md").read_text(encoding="utf-8"))
    measured = (DOCS / "quality.md").read_text(encoding="utf-8")
    assert len(quoted) > 20
    assert [value for value in quoted if value.removeprefix("+") not in measured] == []
