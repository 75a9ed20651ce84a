"""A workbench in a process of its own, as a user starts it, and requests as a page sends them."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from cli_tools import PROGRAM, environment

#: Seconds that anything may take on a slow machine.
PATIENCE = 120.0


def until(condition: Callable[[], Any]) -> Any:
    """Wait until something holds, and return it."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Workbench:
    """A running server, and what a page asks it."""

    def __init__(self, process: subprocess.Popen[str], address: str, folder: Path) -> None:
        self.process, self.address, self.folder = process, address, folder
        parts = urlsplit(address)
        assert parts.port is not None
        self.port, self.token = parts.port, parts.path.strip("/")
        self.host = f"127.0.0.1:{self.port}"

    def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        raw: bool = False,
    ) -> Answer:
        """A request as the page sends it; ``raw``: with this path and these headers alone."""
        if not raw:
            path = f"/{self.token}/{path}"
            headers = {"Host": self.host, "Origin": f"http://{self.host}", **(headers or {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body and "Content-Length" not in (headers or {}):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def upload(self, name: str, content: bytes) -> Answer:
        # Without a length of 0 an empty body would have none at all.
        length = {"Content-Length": str(len(content))}
        return self.request("PUT", f"api/file?name={quote(name)}", content, length)

    def tell(self, path: str, **content: Any) -> Answer:
        return self.request("POST", path, json.dumps(content).encode())

    def wait(self, slot: str, *states: str) -> dict[str, Any]:
        """Wait until the fit is in one of the states."""
        until(lambda: self.get("api/status").json()[slot]["state"] in states)
        return dict(self.get("api/status").json()[slot])

    def fit(self, slot: str, **settings: Any) -> dict[str, Any]:
        """Fit, and return the result."""
        assert self.tell(f"api/{slot}/fit", **settings).status == 200
        status = self.wait(slot, "done", "failed")
        assert status["state"] == "done", status
        return dict(self.get(f"api/{slot}/result").json())

    def files(self) -> list[str]:
        """What lies in the private folder."""
        (folder,) = self.folder.glob("icvi-artmap-*")
        return sorted(path.name for path in folder.iterdir())


@contextmanager
def workbench(folder: Path, *arguments: str) -> Iterator[Workbench]:
    """Start the command, and end it as Ctrl-C does; nothing may be left."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [*PROGRAM, "app", "--no-browser", *arguments],
        env=environment(TMPDIR=str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("The workbench is at http://127.0.0.1:"), process.communicate()
        yield Workbench(process, line.split()[-1], folder)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, "")
        assert out.endswith("The workbench has ended.\n")
        assert not list(folder.glob("icvi-artmap-*"))
    finally:
        process.kill()
        process.wait()


def children(pid: int) -> list[int]:
    """The processes that a process has started, by /proc."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")  # by the thread that has started them
    return [int(part) for found in lists for part in found.read_text().split()]


def workers(pid: int) -> list[int]:
    """Those among them that do the work; one keeps the books of multiprocessing."""
    found = children(pid)
    return [p for p in found if b"resource_tracker" not in Path(f"/proc/{p}/cmdline").read_bytes()]


def resident(pid: int) -> int:
    """Bytes of memory that a process and its children take."""
    total = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total + sum(resident(child) for child in children(pid))
