"""A hundred files that are no tables, or mean harm."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile

import numpy as np

#: A word that a pickle would print, if somebody loaded it.
PICKLED = "a pickle was loaded"


class _Prints:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, (PICKLED,)


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _zipped(**entries: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def _parquet(table: np.ndarray) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table({f"x{i}": column for i, column in enumerate(table.T)}), file)
    return file.getvalue()


def _claims(shape: str) -> bytes:
    """A NPY file whose header promises more than there is."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head = head.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(80)


def hostile_files() -> list[tuple[str, bytes]]:
    """Names and contents, a hundred."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 3))
    text = b"a,b\n" + b"\n".join(b"%d,%d" % (i, i * i) for i in range(50))
    packed, parquet, npz, npy = gzip.compress(text), _parquet(table), _npz(X=table), _npy(table)
    named = [
        ("empty.csv", b""),
        ("blank.csv", b" \n\n \n"),
        ("head.csv", b"a,b,c\n"),
        ("text.csv", b"a,b\nred,green\nblue,white\n"),
        ("twice.csv", b"a,a\n1,2\n3,4\n"),
        ("ragged.csv", b"a,b\n1,2\n3,4,5\n6,7\n"),
        ("quote.csv", b'a,b\n"1,2\n3,4\n' * 50),
        ("nul.csv", b"a,b\n1,\x002\n"),
        ("latin.csv", b"gr\xf6sse,b\n1,2\n3,4\n"),
        ("wide.csv", b"a" + b",a" * 600_000 + b"\n"),
        ("long.csv", b"x" * 5_000_000),
        ("page.csv", b"<html><script>alert(1)</script></html>"),
        ("formula.csv", b"=cmd|' /C calc'!A0\n@SUM(1)\n"),
        ("many.csv", b",".join(b"c%d" % i for i in range(3000)) + b"\n" + b"1" + b",1" * 2999),
        ("program.exe", b"MZ\x90\x00"),
        ("nothing", text),
        (".csv", b"\x7fELF\x02\x01\x01"),
        ("../../etc/passwd", b"root:x:0:0"),
        ("..\\..\\boot.ini", b"[boot loader]"),
        ("/dev/zero", b"0"),
        ("-", text),
        ("a\x00b.csv", b"\x00\x00"),
        ("<img src=x onerror=alert(1)>.csv", b""),
        ("\u202egpj.csv", b""),
        ("x" * 4000 + ".csv", b""),
        ("$(touch hacked).csv", b"`touch hacked`"),
        ("table.csv.gz", text),
        ("short.csv.gz", packed[:-9]),
        ("bomb.csv.gz", gzip.compress(bytes(48 * 2**20))),
        ("nested.csv.gz", gzip.compress(packed)),
        ("pickle.npy", _npy(np.array([_Prints()], dtype=object))),
        ("pickle.npz", _npz(X=np.array([[_Prints()]], dtype=object))),
        ("raw.npy", pickle.dumps(_Prints())),
        ("huge.npy", _claims("(1000000000, 1000)")),
        ("minus.npy", _claims("(-3, 4)")),
        ("cube.npy", _npy(np.zeros((3, 3, 3)))),
        ("none.npy", _npy(np.zeros((0, 4)))),
        ("bomb.npz", _zipped(**{"X.npy": _claims("(6000000, 2)") + bytes(96 * 2**20)})),
        ("no_arrays.npz", _zipped(readme=b"nothing here")),
        ("climbing.npz", _zipped(**{"../../X.npy": b"#!/bin/sh"})),
        ("table.parquet", b"PAR1" + bytes(64) + b"PAR1"),
        ("csv.parquet", text),
        ("table.arff", b"@relation x\n@data\n1,2\n"),
        ("table2.arff", b"@relation x\n@attribute a numeric\n@data\nabc\n"),
        ("none.arff", b"% nothing\n"),
    ]
    for i in range(10):
        named.append((f"noise{i}.csv", b"\xff\xfe\xfd" + rng.bytes(200 * 4**i % 90_000)))
        named.append((f"cut{i}.parquet", parquet[: len(parquet) * (i + 1) // 12]))
        named.append((f"cut{i}.npz", npz[: len(npz) * (i + 1) // 12]))
        named.append((f"cut{i}.npy", npy[: len(npy) * (i + 1) // 12]))
        named.append((f"cut{i}.csv.gz", packed[: len(packed) * (i + 1) // 12]))
    for i in range(5):
        changed = bytearray(parquet)
        for at in rng.integers(len(parquet) - 300, len(parquet) - 8, 40):
            changed[at] = int(rng.integers(256))
        named.append((f"changed{i}.parquet", bytes(changed)))
    assert len(named) == 100
    return named
