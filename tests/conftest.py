"""Fixtures and settings for all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from helpers.kernels import compile_once

# Which test compiles first is chance, and what it sees on stderr must not be.
os.environ["ICVI_ARTMAP_QUIET"] = "1"

# ci: the same examples every time, so that a failure is a change of ours. No test is timed.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("default", deadline=None)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=1000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before xdist starts its workers, whose own sessions find the kernels compiled."""
    if session.config.getoption("numprocesses", None):
        compile_once()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the paper's data; the test is skipped where there is none."""
    given = os.environ.get("ICVI_ARTMAP_DATA")
    checkout = Path(__file__).resolve().parents[1]
    folder = Path(given) if given else checkout.parent / "shared" / "data"
    if not (folder / "synthetic").is_dir():
        pytest.skip(
            f"the paper's data is not in {folder}: set ICVI_ARTMAP_DATA to the folder that "
            "contains synthetic/"
        )
    return folder
