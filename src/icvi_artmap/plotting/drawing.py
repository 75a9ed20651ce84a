"""The common parts of pictures: axes, names, points, boxes, and the key to the colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.colours import PER_MARK, numbers, style
from icvi_artmap._support.wording import better, shortened

#: The largest number of letters of a name on an axis, in a legend, and inside a picture.
AXIS_LETTERS, LEGEND_LETTERS, INNER_LETTERS = 46, 28, 4
#: More clusters than this are named in the picture, not in a legend. If their names are longer than
#: a number, a legend tells which number is which name, in columns of COLUMN names.
LEGEND_MOST, COLUMN, COLUMNS = PER_MARK, 22, 3
#: Room for names longer than a number, in inches: a column of the legend, or upright names.
COLUMN_WIDTH, UPRIGHT_HEIGHT = 2.4, 1.4
#: Size of the mark of a sample, in square points: this divided by their number, within limits.
INK, SMALLEST, LARGEST = 20_000.0, 4.0, 20.0
#: With this number of samples or more, a vector picture (SVG, PDF) has them as pixels.
PIXELS_FROM = 2000
#: A box whose sides are below ROUNDING of the picture is drawn as a point of size POINT.
ROUNDING, POINT = 1e-9, 5.0
#: Corners of an ellipse, how opaque its inside and its outline are, and how wide the outline.
CORNERS, ELLIPSE_FILL, ELLIPSE_OUTLINE, ELLIPSE_WIDTH = 48, 0.07, 0.45, 0.8
#: Names inside the picture: font size, width of a letter in parts of it, and space around a name.
INNER_FONT, LETTER, SPACE = 7.5, 0.62, 4.0
#: Font sizes of the names of rows and columns.
LEAST_FONT, MOST_FONT = 4.5, 8.3
#: Rounds in which names that overlap are moved apart.
ROUNDS = 300
#: Height of the strip that shows the colours of clusters below a matrix, in points.
STRIP = 6.0


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The given axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained").subplots()


# --- text ----------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Escape dollar signs: matplotlib would read the text between two of them as a formula."""
    return text.replace("$", r"\$")


def written(name: Any, most: int) -> str:
    """A name, shortened and escaped for matplotlib."""
    return plain(shortened(name, most))


def index_label(name: str, direction: int) -> str:
    """The name of an index, and which values are better."""
    return f"{written(name, LEGEND_LETTERS)} ({better(direction)} is better)"


def set_title(ax: Any, text: str) -> None:
    """Set the title where a title that the user sets later replaces it."""
    ax.set_title(text, fontsize="medium")


# --- samples and boxes ---------------------------------------------------------------------------


def draw_points(
    ax: Any,
    points: NDArray[np.float64],
    labels: NDArray[Any],
    clusters: NDArray[Any],
    options: dict[str, Any],
) -> None:
    """Samples in the colours and marks of their clusters, mixed so that none hides another."""
    looks = [style(look) for look in numbers(clusters)]
    position = positions(labels, clusters)
    order = np.random.RandomState(0).permutation(len(points))
    colour = np.array([look.colour for look in looks], dtype=object)
    marker = np.array([look.marker for look in looks], dtype=object)
    size = float(np.clip(INK / max(len(points), 1), SMALLEST, LARGEST))
    chosen = {"s": size, "alpha": 0.75, "linewidths": 0, **options}
    for mark in dict.fromkeys(marker.tolist()):
        rows = order[marker[position[order]] == mark]
        ax.scatter(
            *points[rows].T,
            c=colour[position[rows]].tolist(),
            marker=mark,
            rasterized=len(points) >= PIXELS_FROM,
            **chosen,
        )


def positions(labels: NDArray[Any], clusters: NDArray[Any]) -> NDArray[np.int64]:
    """The position of every label among the labels of the clusters, which are all different."""
    if not (known := np.isin(labels, clusters)).all():
        unknown = labels[~known][:1].tolist()[0]
        raise ValueError(f"Label {unknown!r} is not among the clusters {clusters.tolist()}.")
    order = np.argsort(clusters, kind="stable")
    return order[np.searchsorted(clusters, labels, sorter=order)]


def together(*labels: NDArray[Any] | None) -> NDArray[Any]:
    """All labels that occur."""
    return np.unique(np.concatenate([part for part in labels if part is not None]))


def draw_boxes(
    ax: Any,
    boxes: NDArray[np.float64],
    labels: NDArray[Any],
    clusters: NDArray[Any],
    fill: float,
) -> None:
    """Boxes, of shape (C, 2, 2), in the colours and lines of their clusters."""
    from matplotlib.collections import PolyCollection

    nothing = ROUNDING * np.ptp(boxes, axis=(0, 1))
    flat = (boxes[:, 1] - boxes[:, 0] <= nothing).all(axis=1)
    for cluster, look in zip(clusters, numbers(clusters), strict=True):
        colour, _, line = style(look)
        own = labels == cluster
        if (own & flat).any():
            points = boxes[own & flat, 0].T
            ax.plot(*points, "s", color=colour, markersize=POINT, fillstyle="none", linestyle="")
        (x, y), (right, top) = boxes[own & ~flat].transpose(1, 2, 0)
        if len(x) == 0:
            continue
        corners = list(np.stack([x, y, right, y, right, top, x, top], axis=1).reshape(-1, 4, 2))
        # Only the inside is transparent, so inside and outline are drawn apart.
        inside = PolyCollection(corners, facecolors=colour, edgecolors="none", alpha=fill)
        outline = PolyCollection(
            corners, facecolors="none", edgecolors=colour, linewidths=1.2, linestyles=line
        )
        ax.add_collection(inside)
        ax.add_collection(outline)
    ax.autoscale_view()


def ellipses(means: NDArray[np.float64], covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Outlines at one deviation of normal distributions in a plane, of shape (n, CORNERS, 2)."""
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    values, vectors = np.linalg.eigh(covariances)
    half_axes = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return means[:, None, :] + (half_axes @ circle).transpose(0, 2, 1)


def draw_ellipses(
    ax: Any, outlines: NDArray[np.float64], labels: NDArray[Any], clusters: NDArray[Any]
) -> None:
    """Ellipses of components, faintly, in the colours of their clusters."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    for cluster, look in zip(clusters, numbers(clusters), strict=True):
        own, colour = list(outlines[labels == cluster]), style(look).colour
        inside, line = to_rgba(colour, ELLIPSE_FILL), to_rgba(colour, ELLIPSE_OUTLINE)
        ax.add_collection(
            PolyCollection(own, facecolors=inside, edgecolors=line, linewidths=ELLIPSE_WIDTH)
        )


# --- which colour is what ------------------------------------------------------------------------


def cluster_name(cluster: Any, most: int) -> str:
    """The name of a cluster; a negative number means no cluster, as in scikit-learn."""
    if isinstance(cluster, (int, np.integer)) and cluster < 0:
        return "none"
    return written(cluster, most)


def long_names(clusters: NDArray[Any]) -> bool:
    """Whether any name is longer than a number inside the picture may be."""
    return any(len(cluster_name(cluster, AXIS_LETTERS)) > INNER_LETTERS for cluster in clusters)


def key_width(clusters: NDArray[Any]) -> float:
    """Room for the names of the clusters beside a picture, in inches."""
    if not long_names(clusters):
        return 1.0 if len(clusters) <= LEGEND_MOST else 0.0
    return COLUMN_WIDTH * min(-(-len(clusters) // COLUMN), COLUMNS)


def draw_key(
    ax: Any,
    clusters: NDArray[Any],
    sizes: NDArray[np.int64] | None,
    places: NDArray[np.float64],
    kind: str,
) -> None:
    """Name the clusters, in a legend or, if there are many, at their places."""
    if len(clusters) <= LEGEND_MOST:
        _legend(ax, clusters, sizes, kind, numbered=False)
        return
    names = [cluster_name(cluster, INNER_LETTERS) for cluster in clusters]
    if long_names(clusters):
        names = [str(look) for look in numbers(clusters)]
        _legend(ax, clusters, sizes, kind, numbered=True)
    _names_in_place(ax, names, numbers(clusters), places)


def _legend(
    ax: Any, clusters: NDArray[Any], sizes: NDArray[np.int64] | None, kind: str, numbered: bool
) -> None:
    from matplotlib.lines import Line2D

    handles, names = [], []
    for i, look in enumerate(numbers(clusters)[: COLUMN * COLUMNS]):
        colour, marker, _ = style(look)
        handles.append(Line2D([], [], linestyle="", color=colour, marker=marker))
        name = cluster_name(clusters[i], LEGEND_LETTERS)
        name = f"{look}: {name}" if numbered else name
        names.append(name if sizes is None else f"{name} ({sizes[i]:,})")
    legend = beside(ax, handles, names)
    legend.set_title(kind if sizes is None else f"{kind} (samples)")
    if (left_out := len(clusters) - len(names)) > 0:
        legend.set_title(
            f"{legend.get_title().get_text()}, the first {len(names)}; {left_out} more"
        )


def beside(ax: Any, handles: list[Any], names: list[str]) -> Any:
    """A legend to the right of the axes, where a layout makes room for it; otherwise inside."""
    place: dict[str, Any] = {"loc": "upper right", "framealpha": 0.8}
    if ax.figure.get_layout_engine() is not None:
        corner = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
        place = {"frameon": False, **corner}
    # matplotlib leaves out names that begin with "_", so the names are set afterwards.
    blank = [str(i) for i in range(len(names))]
    columns = -(-len(names) // COLUMN)
    legend = ax.legend(handles, blank, ncols=columns, fontsize="small", alignment="left", **place)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)
    return legend


def _names_in_place(
    ax: Any, names: list[str], looks: NDArray[np.int64], places: NDArray[np.float64]
) -> None:
    ax.apply_aspect()
    scale = ax.figure.dpi / 72.0
    width = np.array([LETTER * INNER_FONT * len(name) + SPACE for name in names]) * scale
    height = (INNER_FONT + SPACE) * scale
    frame = ax.get_window_extent()
    wanted = ax.transData.transform(places)
    moved = apart(wanted, width, height, (frame.x0, frame.y0, frame.x1, frame.y1))
    texts = ax.transData.inverted().transform(moved)
    far = np.abs(moved - wanted).max(axis=1) > height
    for i, look in enumerate(looks):
        colour = style(look).colour
        line = {"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
        ax.annotate(
            names[i],
            xy=places[i],
            xytext=texts[i],
            ha="center",
            va="center",
            fontsize=INNER_FONT,
            zorder=5,
            bbox={
                "boxstyle": "round,pad=0.15",
                "facecolor": (1.0, 1.0, 1.0, 0.7),
                "edgecolor": colour,
            },
            arrowprops=line if far[i] else None,
        )


def apart(
    places: NDArray[np.float64],
    width: NDArray[np.float64],
    height: float,
    frame: tuple[float, float, float, float],
) -> NDArray[np.float64]:
    """Centres of labels near these places that do not overlap, if there is room in the frame."""
    at = np.array(places, np.float64)
    half = np.stack([width / 2.0, np.full(len(at), height / 2.0)], axis=1)
    low, high = np.array(frame[:2]) + half, np.array(frame[2:]) - half
    room = half[:, None] + half[None, :]
    below = np.arange(len(at))[:, None] < np.arange(len(at))[None, :]
    for _ in range(ROUNDS):
        at = np.clip(at, low, np.maximum(low, high))
        difference = at[None, :] - at[:, None]  # from i to j
        overlap = room - np.abs(difference)
        hit = (overlap > 0.0).all(axis=2)
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        # Two labels move apart along the side where they overlap less. If they are in the same
        # place, the later one moves up.
        along = overlap.argmin(axis=2)[..., None] == np.arange(2)
        towards = np.where(difference == 0.0, np.where(below, 1.0, -1.0)[..., None], difference)
        push = np.where(hit[..., None] & along, np.sign(towards) * (overlap + 0.5) / 2.0, 0.0)
        at -= push.sum(axis=1)
    return at


def draw_strip(ax: Any, clusters: NDArray[Any]) -> None:
    """Colours of the clusters below the columns of a matrix."""
    from matplotlib.collections import PolyCollection
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    # The strip is the same number of points high on axes of any size.
    below = ax.figure.dpi_scale_trans + ScaledTranslation(0, 0, ax.transAxes)
    top, bottom = -1.0 / 72.0, -(STRIP + 1.0) / 72.0
    corners = [
        [(i - 0.5, top), (i + 0.5, top), (i + 0.5, bottom), (i - 0.5, bottom)]
        for i in range(len(clusters))
    ]
    colours = [style(look).colour for look in numbers(clusters)]
    strip = PolyCollection(corners, facecolors=colours, edgecolors="white", linewidths=0.4)
    strip.set_transform(blended_transform_factory(ax.transData, below))
    strip.set_clip_on(False)
    ax.add_collection(strip, autolim=False)
    ax.tick_params(axis="x", length=0, pad=STRIP + 4.0)


def names_height(clusters: NDArray[Any]) -> float:
    """Room for the names of clusters below a matrix, in inches."""
    return UPRIGHT_HEIGHT if long_names(clusters) else 0.0


def cell_size(ax: Any, columns: int, rows: int) -> tuple[float, float]:
    """Width and height of a cell of a matrix, in points."""
    width, height = ax.get_window_extent().size * 72.0 / ax.figure.dpi
    return float(width) / max(columns, 1), float(height) / max(rows, 1)


def font_size(points: float) -> float:
    """The font size of lines of text that are this many points apart."""
    return float(np.clip(0.85 * points, LEAST_FONT, MOST_FONT))


def set_cluster_names(ax: Any, clusters: NDArray[Any], kind: str) -> None:
    """Names and colours of clusters below the columns of a matrix; long names stand upright."""
    names = [cluster_name(cluster, LEGEND_LETTERS) for cluster in clusters]
    width, _ = cell_size(ax, len(names), 1)
    across = max(map(len, names)) * LETTER * MOST_FONT < width and not long_names(clusters)
    size = MOST_FONT if across else font_size(width)
    # If a picture is too small for all names, some are left out, so that none overlaps another.
    every = 1 if across else int(np.ceil(LEAST_FONT / width))
    ticks = range(0, len(names), every)
    ax.set_xticks(ticks, names[::every], rotation=0 if across else 90, fontsize=size)
    draw_strip(ax, clusters)
    ax.set_xlabel(kind)
