"""Fitted models to files and back."""
