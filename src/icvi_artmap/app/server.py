"""The server of the workbench: on this machine only, for the page with the token only."""

from __future__ import annotations

import json
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icvi_artmap.app.bench import DOWNLOADS, SLOTS, Bench, ConflictError
from icvi_artmap.app.guard import Guard
from icvi_artmap.app.processes import FailedError
from icvi_artmap.app.settings import CHOICES
from icvi_artmap.app.uploads import MIB, MOST_MIB, TooLargeError, Uploads, clean_name

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
#: Bytes of a request that is no file.
MOST_ASKED = MIB
#: The files of the page: from the report, and of its own.
SHARED = ("report.css", "theme.js", "tables.js", "numbers.js", "marks.js", "map.js")
OWN = ("workbench.css", "asking.js", "columns.js", "results.js", "workbench.js")
TYPES = {".css": "text/css", ".js": "text/javascript"}


def require() -> None:
    """Say how to install what the workbench needs, if it is not there."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "The workbench needs starlette and uvicorn: pip install 'icvi-artmap[app]'."
        ) from error
    from icvi_artmap.report.page import environment

    environment()


class Server:
    """A workbench on a port of this machine.

    Parameters
    ----------
    data : str, optional
        A table to begin with.
    port : int, default=0
        0: any that is free.
    most_mib : int
        The largest file that is taken from the page, in MiB.

    Attributes
    ----------
    address : str
        What a browser opens, with the token in it.
    """

    def __init__(self, data: str | None = None, port: int = 0, most_mib: int = MOST_MIB) -> None:
        import uvicorn

        require()
        self._socket = _listening(port)
        port = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(32)
        self.address = f"http://{HOST}:{port}/{token}/"
        self.bench = Bench(Uploads(most_mib))
        try:
            if data is not None:
                self.bench.open(Path(data).absolute(), clean_name(data))
        except FailedError as error:
            self.bench.close()
            raise ValueError(str(error)) from error
        app = Guard(make_app(self.bench, token), token, (f"{HOST}:{port}", f"localhost:{port}"))
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="error",
                access_log=False,
                server_header=False,
                timeout_keep_alive=5,
                timeout_graceful_shutdown=1,
                ws="none",
            )
        )

    def run(self) -> None:
        """Serve until :meth:`stop`, or Ctrl-C."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.bench.close()

    def stop(self) -> None:
        """Let :meth:`run` return."""
        self._server.should_exit = True


def _listening(port: int) -> socket.socket:
    """A socket that only this machine can reach."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        found.listen()  # whoever opens the address at once waits until the server runs
    except OSError as error:
        found.close()
        raise OSError(
            f"Port {port} cannot be used ({error.strerror}). Try another --port."
        ) from None
    return found


def make_app(bench: Bench, token: str) -> Starlette:
    """The application behind the guard: the page, its files, and what it asks for."""
    from starlette.applications import Starlette
    from starlette.routing import Mount, Route

    answers = Answers(bench)
    routes = [
        Route("/", answers.page),
        Route("/{name:str}", answers.page_file),
        Route("/api/file", answers.upload, methods=["PUT"]),
        Route("/api/file", answers.file),
        Route("/api/status", answers.status),
        Route("/api/compare", answers.compare),
        Route("/api/{slot:str}/fit", answers.fit, methods=["POST"]),
        Route("/api/{slot:str}/stop", answers.stop, methods=["POST"]),
        Route("/api/{slot:str}/clear", answers.clear, methods=["POST"]),
        Route("/api/{slot:str}/result", answers.result),
        Route("/api/{slot:str}/row", answers.row),
        Route("/api/{slot:str}/download/{what:str}", answers.download),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        bench.close()  # so that nobody waits for a process any more

    from starlette.requests import ClientDisconnect

    errors = {
        ClientDisconnect: _told(400),
        FailedError: _told(422),
        ValueError: _told(422),
        ConflictError: _told(409),
        TooLargeError: _told(413),
    }
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        exception_handlers=errors,
        lifespan=lifespan,
    )


def _told(status: int) -> Callable[[Request, Exception], Response]:
    """An answer that has the text of the error."""

    def answer(request: Request, error: Exception) -> Response:
        from starlette.responses import JSONResponse

        return JSONResponse({"message": str(error)}, status, headers={"connection": "close"})

    return answer


class Answers:
    """What the server answers to every request that the guard lets through."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._files = _page_files()
        self._page = _page(bench.uploads.most)

    # --- the page --------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        from starlette.responses import HTMLResponse

        return HTMLResponse(self._page)

    async def page_file(self, request: Request) -> Response:
        from starlette.exceptions import HTTPException
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in self._files:
            raise HTTPException(404)
        return Response(self._files[name], media_type=TYPES[Path(name).suffix])

    # --- the file --------------------------------------------------------------------------------

    async def upload(self, request: Request) -> Response:
        name = clean_name(request.query_params.get("name", ""))
        declared = request.headers.get("content-length", "")
        path = await self._bench.uploads.receive(
            name, int(declared) if declared.isdecimal() else None, request.stream()
        )
        await _in_thread(self._bench.open, path, name)
        return self._file()

    async def file(self, request: Request) -> Response:
        return self._file()

    def _file(self) -> Response:
        found = self._bench.file
        if found is None:
            return _as_json(b"null")
        name = json.dumps(found.name).encode()
        return _as_json(b'{"name":' + name + b"," + found.columns[1:])

    # --- fits ------------------------------------------------------------------------------------

    async def fit(self, request: Request) -> Response:
        asked = json.loads(await _body(request))
        if not isinstance(asked, dict):
            raise ValueError("An object with settings is wanted.")
        run = await _in_thread(self._bench.begin, _slot(request), asked)
        threading.Thread(target=run, daemon=True).start()
        return _as_json(b"{}")

    async def stop(self, request: Request) -> Response:
        await _in_thread(self._bench.stop, _slot(request))
        return _as_json(b"{}")

    async def clear(self, request: Request) -> Response:
        await _in_thread(self._bench.clear, _slot(request))
        return _as_json(b"{}")

    async def status(self, request: Request) -> Response:
        from starlette.responses import JSONResponse

        return JSONResponse(self._bench.status())

    # --- results ---------------------------------------------------------------------------------

    async def result(self, request: Request) -> Response:
        return _as_json(self._bench.done(_slot(request)).result)

    async def row(self, request: Request) -> Response:
        slot, asked = _slot(request), request.query_params
        if "name" in asked:
            found = await _in_thread(self._bench.ask, slot, "find", name=asked["name"])
        else:
            text = asked.get("at", "")
            if not text.isdecimal():
                raise ValueError("The position of a row is wanted.")
            found = await _in_thread(self._bench.ask, slot, "explain", row=int(text))
        return _as_json(found)

    async def compare(self, request: Request) -> Response:
        return _as_json(await _in_thread(self._bench.compare))

    async def download(self, request: Request) -> Response:
        from starlette.background import BackgroundTask
        from starlette.exceptions import HTTPException
        from starlette.responses import FileResponse

        what = request.path_params["what"]
        if what not in DOWNLOADS:
            raise HTTPException(404)
        path, name = await _in_thread(self._bench.download, _slot(request), what)
        return FileResponse(
            path,
            filename=name,
            media_type="application/octet-stream",
            background=BackgroundTask(path.unlink, missing_ok=True),
        )


async def _in_thread(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(function, *given, **named)


async def _body(request: Request) -> bytes:
    """What was sent, if it is not too much."""
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > MOST_ASKED:
            raise TooLargeError("That is too much to ask for.")
        parts.append(part)
    return b"".join(parts)


def _slot(request: Request) -> str:
    from starlette.exceptions import HTTPException

    slot: str = request.path_params["slot"]
    if slot not in SLOTS:
        raise HTTPException(404)
    return slot


def _as_json(content: bytes) -> Response:
    from starlette.responses import Response

    return Response(content, media_type="application/json")


def _page_files() -> dict[str, bytes]:
    """The files of the page by name: there are no others to ask for."""
    own, shared = files("icvi_artmap.app"), files("icvi_artmap.report")
    found = {name: shared.joinpath("templates", name).read_bytes() for name in SHARED}
    return found | {name: own.joinpath("templates", name).read_bytes() for name in OWN}


def _page(most: int) -> str:
    from icvi_artmap.report.page import environment
    from icvi_artmap.tables.formats import FORMATS

    source = files("icvi_artmap.app").joinpath("templates", "workbench.html.j2")
    template = environment().from_string(source.read_text(encoding="utf-8"))
    suffixes = [suffix for format in FORMATS for suffix in format.suffixes]
    return template.render(
        scripts=[name for name in (*SHARED, *OWN) if name.endswith(".js")],
        choices=CHOICES,
        suffixes=[*suffixes, ".gz"],
        most=most,
        slots=SLOTS,
    )
