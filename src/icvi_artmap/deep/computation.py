"""What one iteration computes: layers, distorted images and losses, on PyTorch's tensors.

Every function here takes tensors and is differentiable; nothing is random and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from icvi_artmap.deep.needs_torch import imported_torch

Tensor = Any  #: torch.Tensor; PyTorch is not needed to import this


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
