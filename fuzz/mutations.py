"""Files altered at random."""

from __future__ import annotations

import random


def altered_bytes(rng: random.Random, content: bytes) -> bytes:
    """Damage; more of it at the two ends, where files describe themselves."""
    data, n = bytearray(content), len(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.choice((rng.randrange(n), rng.randrange(n - 1500, n), rng.randrange(3000)))
        at = min(max(at, 0), len(data) - 1)
        length = rng.choice((1, 1, 2, 4, 8, 100))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = rng.randbytes(length)
        elif kind == 3:
            del data[max(at, 1) :]
        elif kind == 4:
            data[at : at + length] = rng.choice((b"\0", b"\xff")) * length
        else:
            other = rng.randrange(len(data))
            data[at : at + length] = data[other : other + length]
        if not data:
            data += b"\0"
    return bytes(data)


def altered_lines(rng: random.Random, content: bytes) -> bytes:
    """Lines cut, lost, doubled or exchanged."""
    lines = content.splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 2))):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(5)
        if kind == 0:
            lines[a] = lines[a][: rng.randrange(len(lines[a]) + 1)]
        elif kind == 1 and len(lines) > 1:
            del lines[a]
        elif kind == 2:
            lines.insert(b, lines[a])
        elif kind == 3:
            lines[a], lines[b] = lines[b], lines[a]
        else:
            lines[a] = lines[a].rstrip(b"\n") + lines[b]
    return b"".join(lines)
