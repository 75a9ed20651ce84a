"""Fuzzy ART categories (boxes), the map field, and which sample lies in which category."""
