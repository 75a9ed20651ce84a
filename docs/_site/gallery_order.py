"""The order of the gallery."""

FIRST = (
    "plot_quick_start.py",
    "plot_before_clustering.py",
    "plot_choosing_k.py",
    "plot_any_shape.py",
    "plot_real_table.py",
    "plot_noise.py",
    "plot_explained.py",
    "plot_own_index.py",
)


def by_reader(name: str) -> tuple[int, str]:
    """What a new reader wants first; the rest by name."""
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)
