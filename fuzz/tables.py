"""Tables altered at random, bombs, and tables that must come back as they were written."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.campaign import Campaign, Outcome, clear, demand
from fuzz.mutations import altered_bytes, altered_lines
from icvi_artmap import read_table, write_table
from icvi_artmap.tables import Table

SUFFIXES = (
    *(".csv", ".csv.gz", ".tsv", ".txt", ".dat", ".arff", ".arff.gz", ".tsv.gz"),
    *(".parquet", ".npy", ".npz", ".feather", ".xlsx", ".json", ".json.gz", ".jsonl"),
)
#: What confuses readers of text.
TOKENS = (
    *(b",", b";", b"\t", b"|", b" ", b'"', b"'", b"\n", b"\r", b"\r\n", b"\0", b"#", b"%", b"?"),
    *(b"nan", b"inf", b"-", b"+", b".", b"1e999", b"1e-999", b"0x10", b"1_000", b"1,5", b"1.234,5"),
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\x80",
        b"\xc3\xbc",
        b"\x1b[2J",
        b"=1+1",
        b"@data",
    ),
    *(
        b"@attribute x numeric\n",
        b"{0 1}",
        b"{",
        b"}",
        b"\\",
        b"\\'",
        b"2020-01-01",
        b"true",
        b'""',
        b"null",
        b"[",
        b'"a":',
        b"1e999]",
    ),
    *(b"9" * 400, b"'" * 50, b'"' * 51, b" " * 300, b"\n" * 300, b"x" * 2000, b"\xe2\x80\xa8"),
)
#: Letters of random texts and names: what delimits, quotes, escapes and ends lines, and others.
LETTERS = "ab z0159,;|\t'\"\\\n\r#%?{}=+-@.eEüß€🦋\u2028\u00a0\x1b"
#: Bytes of a bomb when it is unpacked, at most.
BOMB = 1 << 26
#: One case of this many is a bomb, which takes longer than the others.
BOMB_EVERY = 100


class Tables(Campaign):
    """Files of every format."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.contents = {suffix: self.written(suffix) for suffix in SUFFIXES}

    def written(self, suffix: str) -> bytes:
        """A table in this format that can be read."""
        as_written = {".txt": ".csv", ".dat": ".tsv"}.get(suffix, suffix)
        path = self.folder / f"base{as_written}"
        rng = np.random.default_rng(0)
        columns: dict[str, Any] = {"width": rng.normal(size=30), "count": rng.integers(0, 99, 30)}
        if suffix != ".npy":
            columns["kind, of"] = [f"it's {i % 3}" for i in range(30)]
        write_table(path, columns)
        read_table(path)
        return path.read_bytes()

    def case(self, seed: int) -> Outcome:
        rng = random.Random(seed)
        if seed % BOMB_EVERY == BOMB_EVERY - 1:
            suffix, content = bomb(rng)
        elif rng.random() < 0.35:
            return self.round_trip(rng)
        else:
            suffix = rng.choice(SUFFIXES)
            content = altered(rng, suffix, self.contents[suffix])
        path = self.folder / f"altered{suffix}"
        path.write_bytes(content)
        try:
            table = read_table(path, **random_request(rng))
        except Exception as error:
            return clear(error)
        check_table(table)
        return Outcome(True, f"a table from {suffix}")

    def round_trip(self, rng: random.Random) -> Outcome:
        suffix = rng.choice([s for s in SUFFIXES if s not in (".txt", ".dat")])
        path, n = self.folder / f"round{suffix}", rng.randrange(1, 12)
        columns: dict[str, NDArray[Any]] = {
            random_name(rng, j): random_numbers(rng, n) for j in range(rng.randrange(1, 4))
        }
        names, texts = list(columns), [random_text(rng) for _ in range(n)]
        options: dict[str, Any] = {"columns": names}
        written: dict[str, Any] = dict(columns)
        if suffix != ".npy":
            # A text that is no number, so that the column stays text.
            written["text"] = np.array(["text", *texts[1:]])
            options["label_column"] = "text"
        else:
            options = {"columns": [f"x{j + 1}" for j in range(len(names))]}
        write_table(path, written)
        try:
            found = read_table(path, **options)
        except Exception as error:
            raise AssertionError(f"{suffix}: {written!r} is refused: {error}") from error
        for j, name in enumerate(names):
            same = found.X[:, j].tobytes() == columns[name].astype(np.float64).tobytes()
            demand(same, f"{suffix}: {columns[name]!r} came back as {found.X[:, j]!r}")
        if suffix != ".npy":
            assert found.labels is not None
            same = found.labels.tolist() == written["text"].tolist()
            demand(same, f"{suffix}: {written['text']!r} came back as {found.labels!r}")
        return Outcome(True, f"a round trip by {suffix}")


def altered(rng: random.Random, suffix: str, content: bytes) -> bytes:
    """Damage to the bytes, to the lines, or what confuses readers put in between."""
    if suffix.endswith(".gz") and rng.random() < 0.7:
        plain = altered(rng, suffix.removesuffix(".gz"), gzip.decompress(content))
        return gzip.compress(plain, mtime=0)
    if suffix in (".parquet", ".npy", ".npz", ".feather", ".xlsx") or rng.random() < 0.3:
        return altered_bytes(rng, content)
    if rng.random() < 0.3:
        return altered_lines(rng, content)
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 10))):
        at, token = rng.randrange(len(data) + 1), rng.choice(TOKENS)
        data[at : at + rng.choice((0, 0, 1, len(token)))] = token
    return bytes(data)


def bomb(rng: random.Random) -> tuple[str, bytes]:
    """A small file that is large when it is unpacked, or that takes long to understand."""
    size, kind = rng.randrange(BOMB // 8, BOMB), rng.randrange(6)
    if kind == 0:
        token = rng.choice((b"0", b" ", b"\n", b",", b'"', b"1,2\n", b"x\n", b'"x"\n', b"#"))
        names = b"a\n" if b"x" in token else b"a,b\n1,2\n3,4\n"
        head = names * rng.choice((1, 300))
        return ".csv.gz", gzip.compress(head + token * (size // len(token)), 1)
    if kind == 1:
        start = b"@relation r\n@attribute x numeric\n@data\n1\n"
        token = rng.choice((b"0", b" ", b"\n", b"'", b"%"))
        return ".arff.gz", gzip.compress(start + token * size, 1)
    if kind == 2:
        stream, shape = io.BytesIO(), (size // 80 - rng.choice((0, 0, 99)), 10)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", array_header(shape) + bytes(size))
        return ".npz", stream.getvalue()
    if kind == 3:
        shape = (rng.choice((1, 10**9, 2**40)), rng.choice((1, 10**6, 2**40)))
        return ".npy", array_header(shape) + bytes(800)
    if kind == 4:
        blanks = b" " * rng.randrange(1000, 100_000)
        stray = rng.choice((b"'", b'"', b"{", b"\\"))
        return ".arff", b"@relation r\n@attribute x" + blanks + stray + b"\n@data\n1" + blanks
    return ".csv", b"x,y\n1,2\n" + rng.choice((b"(", b'"', b"1" * 9, b" ")) * (1 << 20)


def array_header(shape: tuple[int, int]) -> bytes:
    """What a NPY file begins with that claims to hold such an array."""
    stream = io.BytesIO()
    facts = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, facts)
    return stream.getvalue()


def random_request(rng: random.Random) -> dict[str, Any]:
    """Mostly nothing but the file."""
    options: dict[str, Any] = {"missing": rng.choice(("refuse", "drop", "mean"))}
    if rng.random() < 0.2:
        options["label_column"] = rng.choice(("kind, of", "count", "none such"))
    if rng.random() < 0.2:
        options["columns"] = rng.choice((["width"], ["w*"], ["*"], ["kind, of"]))
    if rng.random() < 0.1:
        options["delimiter"] = rng.choice((",", "tab", " ", "ab", ""))
    return options


def check_table(table: Table) -> None:
    """All parts fit together, and every number is finite."""
    n, d = table.X.shape
    demand(table.X.dtype == np.float64 and table.X.flags.c_contiguous, "not plain float64")
    demand(n > 0 and d > 0 and bool(np.isfinite(table.X).all()), "no rows, or infinite numbers")
    demand(len(table.columns) == len(set(table.columns)) == d, f"columns are {table.columns}")
    demand(len(table.rows) == n, "rows and row numbers differ in number")
    demand(table.labels is None or len(table.labels) == n, "rows and labels differ in number")
    demand(table.ids is None or len(table.ids) == n, "rows and ids differ in number")
    longest = max(map(len, table.notes), default=0)
    demand(longest <= 2000, f"a note of {longest} characters")


def random_text(rng: random.Random) -> str:
    return "".join(rng.choices(LETTERS, k=rng.choice((0, 1, 2, 8))))


def random_name(rng: random.Random, j: int) -> str:
    """A name that only begins and ends with letters: blanks at its ends are not kept."""
    return f"n{j}{random_text(rng)}n" if rng.random() < 0.3 else f"n{j}"


def random_numbers(rng: random.Random, n: int) -> NDArray[Any]:
    """Numbers of one type, many at the ends of what the type holds."""
    kind = rng.randrange(4)
    if kind == 0:
        return np.array([rng.randrange(-(2**53), 2**53) for _ in range(n)], np.int64)
    if kind == 1:
        return np.array([rng.random() < 0.5 for _ in range(n)])
    ends = (0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.7976931348623157e308, -1e308, 0.1, 1e16, 1e22)
    values = [
        rng.choice((*ends, rng.gauss(0, 1), rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)))
        for _ in range(n)
    ]
    if kind == 2:
        with np.errstate(over="ignore"):
            single = np.array(values, np.float32)
        return np.where(np.isfinite(single), single, np.float32(1))
    return np.array(values)
