"""Colours of clusters: computed again, and told apart with any colour vision."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from icvi_artmap._support import colours

#: Linear RGB as seen without one kind of cones (Machado, Oliveira and Fernandes 2009).
WITHOUT = {
    "red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
#: From linear RGB to cones, and from their cube roots to OKLab (Ottosson 2020).
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]
WEIGHT = 1.75
STEP = 15
CHROMA = (0.05, 0.24)
CONTRAST = 2.0
STYLE = Path(colours.__file__).parents[1] / "report" / "templates" / "report.css"


def seen(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """OKLab of colours, with all cones and without red, green and blue ones: (4, n, 3)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    views = [linear] + [np.clip(linear @ np.transpose(m), 0.0, 1.0) for m in WITHOUT.values()]
    return np.stack([np.cbrt(view @ np.transpose(CONES)) @ np.transpose(OKLAB) for view in views])


def contrast(rgb: NDArray[np.float64], background: str) -> NDArray[np.float64]:
    """As WCAG has it; its luminance is written here once more."""
    linear = [
        np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
        for part in (rgb, from_hex(background))
    ]
    one, other = (part @ [0.2126, 0.7152, 0.0722] + 0.05 for part in linear)
    return np.maximum(one, other) / np.minimum(one, other)


def from_hex(name: str) -> NDArray[np.float64]:
    return np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def distances(one: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least of the four distances."""
    apart = np.linalg.norm(others - one[:, None], axis=2)
    return (apart * np.array([1.0, WEIGHT, WEIGHT, WEIGHT])[:, None]).min(axis=0)


def test_the_sequence_is_what_it_says() -> None:
    values = range(0, 256, STEP)
    every = np.array(list(itertools.product(values, values, values)))
    looks = seen(every / 255.0)
    chroma = np.hypot(looks[0, :, 1], looks[0, :, 2])
    candidates = (chroma > CHROMA[0]) & (chroma < CHROMA[1])
    for background in ("#FFFFFF", colours.DARK):
        candidates &= contrast(every / 255.0, background) >= CONTRAST
    every, looks = every[candidates], looks[:, candidates]
    first = np.flatnonzero((every == np.rint(255 * from_hex(colours.COLOURS[0]))).all(axis=1))
    chosen = [int(first[0])]
    nearest = distances(looks[:, chosen[0]], looks)
    while len(chosen) < len(colours.COLOURS):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distances(looks[:, chosen[-1]], looks))
    found = ["#" + "".join(f"{part:02X}" for part in every[i]) for i in chosen]
    assert tuple(found) == colours.COLOURS


def least_distances(names: Sequence[str]) -> list[float]:
    """The least distance of two colours, with all cones and without red, green and blue ones."""
    looks = seen(np.array([from_hex(name) for name in names]))
    apart = np.linalg.norm(looks[:, :, None] - looks[:, None], axis=3)
    i, j = np.triu_indices(len(names), 1)
    return apart[:, i, j].min(axis=1).tolist()


def test_ten_colours_differ_however_they_are_seen() -> None:
    """Okabe and Ito's seven, for comparison: 0.155, and 0.096, 0.076, 0.085 without some cones."""
    found = least_distances(colours.COLOURS[: colours.PER_MARK])
    assert found[0] > 0.17
    assert min(found[1:]) > 0.099
    looks = seen(np.array([from_hex(name) for name in colours.COLOURS]))
    assert np.linalg.norm(looks - seen(np.ones((1, 3))), axis=2).min() > 0.15


def test_forty_colours_differ_however_they_are_seen() -> None:
    found = least_distances(colours.COLOURS)
    assert len(found) == 4
    assert found[0] > 0.07
    assert min(found[1:]) > 0.039


def test_forty_colours_are_seen_on_light_and_on_dark_paper() -> None:
    rgb = np.array([from_hex(name) for name in colours.COLOURS])
    assert rgb.shape == (40, 3)
    panels = set(re.findall(r"--panel: (#[0-9a-f]{6})", STYLE.read_text()))
    assert panels == {"#ffffff", colours.DARK.lower()}
    for panel in panels:
        assert contrast(rgb, panel).min() >= CONTRAST
    assert contrast(rgb, "#000000").max() == pytest.approx(
        (colours.luminance(rgb).max() + 0.05) / 0.05
    )


def test_forty_clusters_look_different() -> None:
    looks = [colours.style(i) for i in range(40)]
    assert len({look.colour for look in looks}) == 40
    assert len({(look.marker, look.line) for look in looks}) == 4
    for first in range(0, 40, 10):  # ten colours, then another mark and another line
        assert len({(look.marker, look.line) for look in looks[first : first + 10]}) == 1
    assert colours.style(10) == colours.Style(colours.COLOURS[10], "s", "--")
    assert colours.style(40) == colours.Style(colours.COLOURS[0], "v", "-")
    assert colours.style(10**6).colour == colours.COLOURS[0]
    assert colours.style(-1).colour == colours.GREY


def test_numbers_of_clusters() -> None:
    assert colours.numbers(np.array([0, 2, 7])).tolist() == [0, 2, 7]
    assert colours.numbers(np.array([-1, 3], np.int8)).tolist() == [-1, 3]
    assert colours.numbers(np.array(["b", "a"])).tolist() == [1, 0]
    assert colours.numbers(np.array([False, True])).tolist() == [0, 1]


def test_ink_is_read_on_its_colour() -> None:
    shades = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    assert colours.ink(shades).tolist() == ["white", "black", "white"]
