"""PyTorch, which only training needs."""

from __future__ import annotations

from types import ModuleType


def imported_torch() -> ModuleType:
    """The module ``torch``; an ImportError that says what to install, if there is none."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "DynamicAutoencoder is trained by PyTorch, which is not installed. Install it with: "
            "pip install 'icvi-artmap[deep]'. A model that is trained already needs no PyTorch."
        ) from error
    return torch
