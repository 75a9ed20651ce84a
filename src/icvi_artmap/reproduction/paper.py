"""What the paper prints: its tables of results, and the grids behind them.

A dash stands where the paper leaves a cell empty.
"""

from __future__ import annotations

from typing import NamedTuple, Self

INDICES = ("NI", "CH", "WB", "XB", "DB", "PBM")
VARIANTS = tuple(f"i{index}" for index in INDICES)
BASELINES = (
    "VAT+FA",
    "VAT+DVFA",
    "kmeans",
    "GMM",
    "SC",
    "Ward",
    "complete",
    "average",
    "single",
)
#: The 15 columns of Table synthetic_results.
COLUMNS = VARIANTS + BASELINES
#: The real-world tables have two variants only.
REAL_COLUMNS = ("iNI", "iCH", *BASELINES)


class Printed(NamedTuple):
    """A table of the paper."""

    label: str  #: in the paper's source
    values: dict[str, dict[str, float]]  #: data set, then column; empty cells are left out
    average_rank: dict[str, float]  #: by column

    @classmethod
    def parsed(cls, label: str, *parts: tuple[tuple[str, ...], str]) -> Self:
        """From columns and lines of a name and their values."""
        values: dict[str, dict[str, float]] = {}
        for columns, text in parts:
            for line in text.strip().splitlines():
                name, *cells = line.split()
                values.setdefault(name, {}).update(
                    (column, float(cell))
                    for column, cell in zip(columns, cells, strict=True)
                    if cell != "-"
                )
        return cls(label, values, values.pop("average-rank"))


SYNTHETIC = Printed.parsed(
    "synthetic_results",
    (
        VARIANTS,
        """
2d-4c-no0            0.9941  0.9843  0.9843  0.9843  0.9806  0.9843
2d-10c-no0           0.9941  0.8880  0.8880  0.8673  0.9038  0.8876
2d-20c-no0           0.9990  0.9843  0.9843  0.9801  0.9804  0.9843
2d-40c-no0           0.9863  0.8898  0.8898  0.8733  0.8658  0.8999
10d-4c-no0           1.0000  1.0000  1.0000  0.9989  0.9994  0.9679
10d-10c-no0          0.9981  0.9624  0.9601  0.9012  0.8652  0.9196
10d-20c-no0          0.9981  0.9963  0.9963  0.9962  0.9962  0.9963
10d-40c-no0          0.9962  0.9937  0.9917  0.9546  0.9694  0.9915
ellipsoid.50d4c.1    1.0000  0.6605  0.6605  0.6130  0.5636  0.5738
ellipsoid.50d10c.1   0.9995  0.4624  0.5542  0.6760  0.8399  0.4036
ellipsoid.50d20c.1   1.0000  0.4651  0.4651  0.6119  0.3827  0.4374
ellipsoid.50d40c.1   0.9645  0.3724  0.3724  0.6327  0.1198  0.2807
ellipsoid.100d4c.1   1.0000  0.4441  0.5295  0.8626  0.9540  0.3083
ellipsoid.100d10c.1  1.0000  0.6061  0.6061  0.8037  0.5537  0.5307
ellipsoid.100d20c.1  0.9572  0.5772  0.5772  0.7231  0.1747  0.3629
ellipsoid.100d40c.1  0.9750  0.3974  0.3974  0.6947  0.1161  0.3945
average-rank         1.78    6.56    6.44    6.66    9.09    8.41
""",
    ),
    (
        BASELINES,
        """
2d-4c-no0            0.8478  0.8478  0.8817  0.9941  0.8899  0.9843  0.6446  0.7696  0.6172
2d-10c-no0           0.8044  0.8044  0.8288  0.9280  0.8400  0.8447  0.8301  0.8591  0.2318
2d-20c-no0           0.9209  0.9209  0.9770  0.9918  0.8927  0.9905  0.7955  0.8485  0.6560
2d-40c-no0           0.7986  0.7986  0.8820  0.9536  0.8285  0.8994  0.7746  0.8528  0.5826
10d-4c-no0           0.9530  0.9638  0.9860  1.0000  1.0000  1.0000  0.4218  0.9707  0.0024
10d-10c-no0          0.6392  0.6392  0.8681  0.8983  0.9848  0.9901  0.6622  0.6737  0.0008
10d-20c-no0          0.9374  0.9374  0.9963  0.9981  0.9981  1.0000  1.0000  1.0000  0.8860
10d-40c-no0          0.9436  0.9436  0.9793  0.9799  0.9981  0.9990  0.9981  1.0000  0.8465
ellipsoid.50d4c.1    0.6621  0.6621  0.4539  0.6755  1.0000  0.6027  0.4151  0.5610  0.0006
ellipsoid.50d10c.1   0.5363  0.5363  0.3995  0.8421  0.9739  0.4283  0.2824  0.3200  0.0004
ellipsoid.50d20c.1   0.6935  0.6935  0.3365  0.9166  0.7288  0.3835  0.3347  0.1772  0.0004
ellipsoid.50d40c.1   0.6948  0.6948  0.2515  0.9049  0.7576  0.3003  0.1866  0.1670  0.0004
ellipsoid.100d4c.1   0.7055  0.7055  0.3942  0.5750  1.0000  0.2905  0.3868  0.1869 -0.0010
ellipsoid.100d10c.1  0.7397  0.7397  0.5001  0.9554  1.0000  0.4026  0.1973  0.2353 -0.0006
ellipsoid.100d20c.1  0.6931  0.6931  0.3545  0.9211  0.8894  0.5504  0.1598  0.1801  0.0018
ellipsoid.100d40c.1  0.6525  0.6525  0.3989  0.9471  0.5261  0.2870  0.1792  0.1345  0.0013
average-rank         8.97    8.91   10.09    3.56    4.88    7.09   11.81   10.75   15.00
""",
    ),
)

REAL = Printed.parsed(
    "real_world_results",
    (
        REAL_COLUMNS,
        """
olivetti      0.6374 0.5863 0.5939 0.5939 0.5578 0.5866 0.2327 0.6341 0.4369 0.3362 0.0503
usps          0.9649 0.9609 0.9260 0.9260 0.9599 0.9623 0.9614 0.9593 0.9473 0.8906 0.0000
mnist-test    0.9643 0.9627 0.8429 0.8429 0.9627 0.9640 0.9628 0.9516 0.8698 0.8690 0.0000
mnist         0.9698 0.9688      -      - 0.9688 0.9699      -      -      -      -      -
fashion-mnist 0.4802 0.4495      -      - 0.4495 0.4704      -      -      -      -      -
average-rank    1.20   4.30   7.17   7.17   4.70   2.40   5.33   4.67   7.33   9.00  11.00
""",
    ),
)

TUNED_SYNTHETIC = Printed.parsed(
    "iCVI_opt",
    (
        VARIANTS,
        """
2d-4c-no0            0.9941  0.8817  0.8817  0.8813  0.9404  0.8851
2d-10c-no0           0.9941  0.8292  0.8292  0.7718  0.8677  0.8721
2d-20c-no0           0.9979  0.9773  0.9773  0.9781  0.8221  0.9773
2d-40c-no0           0.9863  0.8740  0.8898  0.8436  0.8167  0.8738
10d-4c-no0           1.0000  0.9860  0.9860  0.9292  0.0024  0.6881
10d-10c-no0          0.9981  0.8782  0.8802  0.8237  0.0004  0.9196
10d-20c-no0          0.9981  0.9963  0.9963  0.9394  0.9473  0.9916
10d-40c-no0          0.9940  0.9890  0.9890  0.9408  0.9669  0.9901
ellipsoid.50d4c.1    1.0000  0.4731  0.4539  0.2899  0.0464  0.3453
ellipsoid.50d10c.1   0.9995  0.3987  0.3987  0.3319  0.1874  0.3395
ellipsoid.50d20c.1   1.0000  0.3404  0.3404  0.2851  0.0878  0.3002
ellipsoid.50d40c.1   0.9645  0.3167  0.3167  0.2417  0.0733  0.2480
ellipsoid.100d4c.1   1.0000  0.3957  0.3957  0.2490 -0.0017  0.2245
ellipsoid.100d10c.1  1.0000  0.5001  0.5001  0.2927  0.0398  0.4162
ellipsoid.100d20c.1  0.9486  0.3261  0.3261  0.1832  0.0387  0.2993
ellipsoid.100d40c.1  0.9750  0.2822  0.2822  0.1655  0.1075  0.2680
average-rank         1.72    7.44    7.34   10.94   12.28    8.63
""",
    ),
)

TUNED_REAL = Printed.parsed(
    "iCVI_opt_RW",
    (
        ("iNI", "iCH"),
        """
olivetti         0.6374  0.5825
usps         0.8842  0.9599
mnist-test           0.8634  0.9627
mnist         0.9698  0.9688
fashion-mnist        0.4802  0.4495
average-rank         4.40    4.00
""",
    ),
)

#: Section speed: how many times faster the incremental index is, on average over k = 2 to 40, and
#: at most.
SPEED = {
    "NI": (28, 47),
    "CH": (78, 143),
    "WB": (79, 140),
    "XB": (35, 43),
    "DB": (29, 35),
    "PBM": (70, 84),
}


def _steps(first: int, last: int, step: int) -> tuple[float, ...]:
    """Values as hundredths, so that each is the float nearest to the printed number."""
    return tuple(value / 100 for value in range(first, last + 1, step))


#: Table gridsearch: the map field's vigilance.
RHO_AB = _steps(10, 100, 10)
#: FA's vigilance, and DVFA's upper one; its lower one is at most this much below.
RHO_ART = _steps(10, 95, 1)
BELOW = _steps(0, 10, 1)
#: The width of SC's kernel.
GAMMA = _steps(50, 150, 1)


def rho_a(name: str) -> tuple[float, ...]:
    """Table gridsearch: ARTa's vigilances for a data set."""
    if name in SYNTHETIC.values:
        return _steps(0, 95 if name.startswith("2d") else 70, 5)
    if name == "olivetti":
        return _steps(0, 90, 5)
    return _steps(0, 90 if name in ("usps", "mnist-test") else 20, 10)
