"""Deep latents: an autoencoder that is trained towards clusters."""

from icvi_artmap.deep.autoencoder import DynamicAutoencoder

__all__ = ["DynamicAutoencoder"]
