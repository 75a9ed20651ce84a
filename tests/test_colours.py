"""Colours of clusters: computed again, and told apart with any colour vision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from icvi_artmap.plotting import colours

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
WEIGHT = 1.5
STEP = 15
LIGHTNESS, CHROMA = (0.38, 0.82), (0.08, 0.2)


def seen(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """OKLab of colours, with all cones and without red, green and blue ones: (4, n, 3)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    views = [linear] + [np.clip(linear @ np.transpose(m), 0.0, 1.0) for m in WITHOUT.values()]
    return np.stack([np.cbrt(view @ np.transpose(CONES)) @ np.transpose(OKLAB) for view in views])


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
    lightness, chroma = looks[0, :, 0], np.hypot(looks[0, :, 1], looks[0, :, 2])
    middle = (lightness > LIGHTNESS[0]) & (lightness < LIGHTNESS[1])
    middle &= (chroma > CHROMA[0]) & (chroma < CHROMA[1])
    every, looks = every[middle], looks[:, middle]
    first = np.flatnonzero((every == np.rint(255 * from_hex(colours.COLOURS[0]))).all(axis=1))
    chosen = [int(first[0])]
    nearest = distances(looks[:, chosen[0]], looks)
    while len(chosen) < len(colours.COLOURS):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distances(looks[:, chosen[-1]], looks))
    found = ["#" + "".join(f"{part:02X}" for part in every[i]) for i in chosen]
    assert tuple(found) == colours.COLOURS


@pytest.mark.parametrize(("view", "least"), [(0, 0.14), (1, 0.095), (2, 0.095), (3, 0.095)])
def test_colours_differ_however_they_are_seen(view: int, least: float) -> None:
    """Okabe and Ito's seven, for comparison: 0.155, and 0.096, 0.076, 0.085 without some cones."""
    looks = seen(np.array([from_hex(name) for name in colours.COLOURS]))[view]
    apart = np.linalg.norm(looks[:, None] - looks[None], axis=2)
    assert apart[np.triu_indices(len(looks), 1)].min() > least
    white = seen(np.ones((1, 3)))[view]
    assert np.linalg.norm(looks - white, axis=1).min() > 0.15


def test_forty_clusters_look_different() -> None:
    looks = [colours.style(i) for i in range(40)]
    assert len({(look.colour, look.marker) for look in looks}) == 40
    assert len({(look.colour, look.line) for look in looks}) == 40
    assert colours.style(10) == colours.Style(colours.COLOURS[0], "s", "--")
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
