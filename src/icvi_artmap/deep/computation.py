"""What one iteration computes: layers, distorted images and losses, on PyTorch's tensors.

Every function here takes tensors and is differentiable; nothing is kept, and nothing is random but
what a generator is given for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import Any, NamedTuple

import numpy as np

from icvi_artmap.deep.needs_torch import imported_torch

Tensor = Any  #: torch.Tensor; PyTorch is not needed to import this


#: The least probability that a logarithm is taken of.
LEAST_PROBABILITY = 1e-8


class Distortion(NamedTuple):
    """How the images of a batch are moved; a number for every image."""

    angle: Tensor  #: radians
    across: Tensor  #: shifts as fractions of the width
    down: Tensor  #: and of the height


def through(rows: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """What the layers make of rows: all but the last followed by max(0, .)."""
    torch = imported_torch()
    for at in range(0, len(weights), 2):
        rows = torch.nn.functional.linear(rows, weights[at], weights[at + 1])
        if at + 2 < len(weights):
            rows = torch.relu(rows)
    return rows


def distorted(rows: Tensor, image_shape: tuple[int, int, int], by: Distortion) -> Tensor:
    """Images, one a row, turned and shifted; bilinear, with the nearest pixel beyond the border.

    ``image_shape``: height, width and channels, which vary fastest in a row.
    """
    torch = imported_torch()
    height, width, channels = image_shape
    cosine, sine = torch.cos(by.angle), torch.sin(by.angle)
    # Coordinates go from -1 to 1 along both sides, so a turn of pixels knows their ratio.
    first = torch.stack([cosine, -sine * (height / width), 2.0 * by.across], dim=1)
    second = torch.stack([sine * (width / height), cosine, 2.0 * by.down], dim=1)
    affine = torch.stack([first, second], dim=1)
    images = rows.reshape(-1, height, width, channels).permute(0, 3, 1, 2)
    grid = torch.nn.functional.affine_grid(affine, list(images.shape), align_corners=False)
    moved = torch.nn.functional.grid_sample(
        images, grid, mode="bilinear", padding_mode="border", align_corners=False
    )
    return moved.permute(0, 2, 3, 1).reshape(rows.shape)


def distorted_at_random(
    rows: Tensor,
    image_shape: tuple[int, int, int] | None,
    rotation: float,
    shift: float,
    generator: np.random.Generator,
) -> Tensor:
    """The rows, turned by up to ``rotation`` degrees and shifted by up to a part of their sides.

    As they are, if they are no images.
    """
    if image_shape is None or (rotation == 0.0 and shift == 0.0):
        return rows
    drawn = generator.uniform(-1.0, 1.0, (3, len(rows))).astype(np.float32)
    turns, *shifts = imported_torch().from_numpy(drawn)
    by = Distortion(turns * radians(rotation), *(part * shift for part in shifts))
    return distorted(rows, image_shape, by)


def neighbour_loss(first: Tensor, second: Tensor, evenness: float) -> Tensor:
    """How little rows and their neighbours agree on a label, and how unevenly labels are used.

    ``first`` and ``second`` are the probabilities of labels, (rows, k).
    """
    torch = imported_torch()
    together = (first * second).sum(dim=1).clamp_min(LEAST_PROBABILITY)
    used = (0.5 * (first.mean(dim=0) + second.mean(dim=0))).clamp_min(LEAST_PROBABILITY)
    return evenness * (used * torch.log(used)).sum() - torch.log(together).mean()


def label_loss(given: Tensor, labels: Tensor) -> Tensor:
    """The cross-entropy of labels, by what a layer gives for each; rows without one do not count.

    0 if none has a label, which is a negative number where there is none.
    """
    torch = imported_torch()
    some = labels >= 0
    if not bool(some.any()):
        return given.sum() * 0.0
    return torch.nn.functional.cross_entropy(given[some], labels[some])


def squared_error(found: Tensor, wanted: Tensor) -> Tensor:
    """The mean square of all differences."""
    return (found - wanted).square().mean()


def similarities(latents: Tensor, centres: Tensor) -> Tensor:
    """Student's t with one degree of freedom to every centre; every row adds up to 1."""
    torch = imported_torch()
    near = 1.0 / (1.0 + torch.cdist(latents, centres).square())
    return near / near.sum(dim=1, keepdim=True)


def confident(similar: Tensor, least: float, lead: float) -> Tensor:
    """Which rows are nearer to one centre than ``least``, and that by more than ``lead``."""
    first, *others = similar.topk(min(2, similar.shape[1]), dim=1).values.T
    return (first > least) & (first - (others[0] if others else 0.0) > lead)


def interpolation_loss(critic: Sequence[Tensor], decoded: Tensor) -> Tensor:
    """What a decoder is blamed for, if the critic sees that its images are mixtures."""
    return criticism(critic, decoded).square().mean()


def criticism(critic: Sequence[Tensor], rows: Tensor) -> Tensor:
    """How much of a mixture the critic thinks that every row is."""
    return through(rows, critic).mean(dim=1)


def critic_loss(
    critic: Sequence[Tensor], mixed: Tensor, share: Tensor, rows: Tensor, rebuilt: Tensor, b: Tensor
) -> Tensor:
    """The error of the critic: of the shares of mixtures, and of images that are none.

    ``mixed`` and ``rebuilt`` must have no gradient.
    """
    real = b[:, None] * rows + (1.0 - b[:, None]) * rebuilt
    first = (criticism(critic, mixed) - share).square().mean()
    return first + criticism(critic, real).square().mean()
