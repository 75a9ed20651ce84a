"""Try the package with hostile input: python -m fuzz [CAMPAIGN ...] [--seed S] [--count N]

A case is known by its seed: `python -m fuzz fits --seed 123 --count 1` repeats case 123.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter

from fuzz.campaign import CAMPAIGNS
from fuzz.watchdog import Extreme, Report, run

#: Cases of every campaign that take a few minutes together.
COUNTS = {
    "fits": 2_000,
    "search": 40,
    "tables": 5_000,
    "models": 10_000,
    "stores": 500,
    "writers": 200,
    "threads": 40,
}
#: Seconds of a campaign unless told otherwise.
SECONDS = 120.0
#: Cases if only the time is limited.
ENDLESS = 10**9
#: Kinds of results and errors that are listed; the rest is summed up.
LISTED = 12
#: Failures that are listed.
LISTED_FAILURES = 50


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("campaign", nargs="*", choices=[*CAMPAIGNS, []], help="all by default")
    parser.add_argument("--seed", type=int, help="of the first case; drawn and printed by default")
    parser.add_argument("--count", type=int, help="cases of every campaign")
    parser.add_argument(
        "--seconds", type=float, help=f"time limit of the whole; {SECONDS:g} for every campaign"
    )
    chosen = parser.parse_args(arguments)
    names = chosen.campaign or list(CAMPAIGNS)
    seed = random.SystemRandom().randrange(10**9) if chosen.seed is None else chosen.seed
    seconds = SECONDS if chosen.seconds is None else chosen.seconds / len(names)
    failed = 0
    for name in names:
        usual = COUNTS[name] if chosen.seconds is None else ENDLESS
        count = usual if chosen.count is None else chosen.count
        report = run(name, CAMPAIGNS[name], seed, count, seconds)
        print(told(report), end="\n\n", flush=True)
        failed += len(report.failures)
    print(f"{failed} failures." if failed else "No failures.")
    return int(failed > 0)


def told(report: Report) -> str:
    """The report in lines."""
    lines = [
        f"{report.name}: {report.tried:,} cases from seed {report.seed} in {report.seconds:.0f} s",
        *_counts("right results", report.right),
        *_counts("clear errors", report.errors),
        f"  slowest case {report.slowest.value:.2f} s: {_again(report, report.slowest)}",
        f"  largest memory {report.largest.value / 2**20:.0f} MB: {_again(report, report.largest)}",
        f"  failures: {len(report.failures)}",
    ]
    for failure in report.failures[:LISTED_FAILURES]:
        again = _again(report, Extreme(0.0, failure.seed))
        lines += [f"    {again}", f"      {failure.what}"]
    return "\n".join(lines)


def _counts(what: str, counts: Counter[str]) -> list[str]:
    common = counts.most_common(LISTED)
    lines = [f"  {what}: {counts.total():,}", *(f"    {n:,} {kind}" for kind, n in common)]
    rest = counts.total() - sum(n for _, n in common)
    return [*lines, f"    {rest:,} of other kinds"] if rest else lines


def _again(report: Report, case: Extreme) -> str:
    """The command that repeats a case."""
    return f"python -m fuzz {report.name} --seed {case.seed} --count 1"


if __name__ == "__main__":
    sys.exit(main())
