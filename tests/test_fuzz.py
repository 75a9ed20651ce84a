"""A short portion of every campaign of `make fuzz`, always with the same seeds."""

from __future__ import annotations

import sys

import pytest

from fuzz.__main__ import told
from fuzz.campaign import CAMPAIGNS, kind_of
from fuzz.watchdog import run

#: Cases of every campaign that take less than a second.
PORTIONS = {
    "fits": 25,
    "search": 4,
    "tables": 300,
    "models": 200,
    "stores": 20,
    "writers": 10,
    "threads": 2,
}
#: What is tried in place of a campaign.
OURS = {
    "fits": "helpers.few_kernels:FitsOfCompiled",
    "threads": "helpers.few_kernels:ThreadsOfCompiled",
}
#: Campaigns in which input is refused now and then.
REFUSING = {"fits", "tables", "models", "stores"}

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory and forks are as Linux has them"
)


@linux_only
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_portion_holds(name: str) -> None:
    target = OURS.get(name, CAMPAIGNS[name])
    report = run(name, target, 0, PORTIONS[name], 600.0)
    assert not report.failures, told(report)
    assert report.tried == PORTIONS[name]
    assert report.right.total() > 0.03 * report.tried  # both ways were gone
    assert (report.errors.total() > 0.03 * report.tried) == (name in REFUSING)


@linux_only
def test_the_watchdog_sees_what_goes_wrong() -> None:
    report = run("faulty", "helpers.faulty_campaign:Faulty", 0, 9, 60.0)
    assert report.tried == 9
    wrong = {failure.seed: failure.what for failure in report.failures}
    assert wrong[1] == "no end after 1 s"
    assert wrong[2] == "the process ended: SIGABRT"
    assert wrong[3].startswith("MemoryError")
    assert "a message of 301 characters" in wrong[4]
    assert wrong[5].startswith("KeyError")
    assert wrong[6].startswith("BrokenPromiseError: a promise (campaign.py:")
    assert sorted(wrong) == [1, 2, 3, 4, 5, 6]
    assert report.right == {"right": 2}
    assert report.errors == {"ValueError: row # of … has # values": 1}
    assert report.largest.seed == 7
    assert report.largest.value > 0.9 * (1 << 27)
    assert report.slowest.seed == 1
    page = told(report)
    assert "python -m fuzz faulty --seed 2 --count 1\n      the process ended: SIGABRT" in page
    assert "faulty: 9 cases from seed 0" in page


def test_a_campaign_ends_when_its_time_is_up() -> None:
    report = run("faulty", "helpers.faulty_campaign:Patient", 8, 10**9, 0.5)
    assert 0 <= report.tried < 10**9
    assert not report.failures


def test_kinds_of_messages() -> None:
    assert kind_of("X[3, 0] = -1.5e+10 is outside 'a.csv'") == "X[#, #] = # is outside …"
