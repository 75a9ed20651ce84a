"""Run the suites and write docs/benchmarks.md: python -m benchmarks [--quick] [--only SUITE ...]

The data folder is ../shared/data beside the checkout, or ICVI_ARTMAP_DATA; without it the paper's
sets are replaced by generated ones of the same family, and named so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    calls,
    common,
    compile_time,
    fits,
    growth,
    incremental,
    many_clusters,
    memory,
    peers,
    streams,
    vat,
)

HEAD = """# Benchmarks

Made by `{command}` in {minutes:.0f} minutes; do not edit. Ours and the peer take turns in one
process, one thread each, compiling excluded. The machine is noisy: ratios tell more than seconds.

{machine}.
"""

SUITES: dict[str, Callable[[str, Path], str]] = {
    "calls": lambda sizes, _: calls.run(getattr(calls, sizes)),
    "fits": lambda sizes, _: fits.run(getattr(fits, sizes)),
    "incremental": lambda sizes, folder: incremental.run(getattr(incremental, sizes), folder),
    "growth": lambda sizes, folder: growth.run(getattr(growth, sizes), folder),
    "many": lambda sizes, _: many_clusters.run(getattr(many_clusters, sizes)),
    "memory": lambda sizes, _: memory.run(getattr(memory, sizes)),
    "peers": lambda sizes, _: peers.run(getattr(peers, sizes)),
    "streams": lambda sizes, _: streams.run(getattr(streams, sizes)),
    "vat": lambda sizes, _: vat.run(getattr(vat, sizes)),
    "compile": lambda sizes, _: compile_time.run(getattr(compile_time, sizes)),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under 5 minutes")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=SUITES, default=list(SUITES))
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs")
    chosen = parser.parse_args(arguments)
    sizes = "SMOKE" if chosen.smoke else "QUICK" if chosen.quick else "FULL"
    pictures = chosen.out / "images"
    pictures.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    common.compile_kernels()
    sections = []
    for name in chosen.only:
        begin = time.perf_counter()
        sections.append(SUITES[name](sizes, pictures))
        print(f"{name}: {time.perf_counter() - begin:.0f} s\n\n{sections[-1]}", flush=True)
    page = chosen.out / "benchmarks.md"
    command = "python -m benchmarks" + ("" if sizes == "FULL" else f" --{sizes.lower()}")
    if len(chosen.only) < len(SUITES):
        command += f" --only {' '.join(chosen.only)}"
        if page.exists():
            common.write(page, renewed(page.read_text(encoding="utf-8"), sections, command))
            return
    minutes = (time.perf_counter() - start) / 60
    head = HEAD.format(command=command, minutes=minutes, machine=common.machine())
    common.write(page, "\n".join([head, *sections]))


def renewed(page: str, sections: list[str], command: str) -> str:
    """The page with these sections in place of those with the same titles.

    They say on what processor they were made, if that is another one than the page's.
    """
    head, *old = page.split("\n## ")
    made = f"by `{command}`"
    if common.processor() not in head:
        made += f", on another machine ({common.processor()})"
    by_title = {text.partition("\n")[0]: text for text in old}
    for section in sections:
        title, _, body = section.removeprefix("## ").partition("\n")
        by_title[title] = f"{title}\n\nMade later than the rest, {made}.\n{body}"
    return "\n## ".join([head, *by_title.values()])


if __name__ == "__main__":
    main()
