"""``icvi-artmap app``: the workbench in the browser."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

OptionalDataArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATA]",
        help="A table to begin with; the page can take others.",
        show_default=False,
    ),
]
PortOption = Annotated[
    int, typer.Option(min=0, max=65535, metavar="N", help="The port; 0: any that is free.")
]
UploadOption = Annotated[
    int,
    typer.Option(
        "--max-upload",
        min=1,
        metavar="MIB",
        help="The largest file that the page may send (MiB).",
    ),
]
BrowserOption = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Whether a browser is opened.")
]


def workbench(
    data: OptionalDataArgument = None,
    port: PortOption = 0,
    max_upload: UploadOption = 256,
    browser: BrowserOption = True,
) -> None:
    """Cluster tables on a page in the browser.

    The page is served to this machine only, and nothing leaves it. Ctrl-C ends it.
    """
    from icvi_artmap.app.server import Server, require

    require()
    server = Server(data, port, max_upload)
    print(f"The workbench is at {server.address}\nCtrl-C ends it.", flush=True)
    if browser:
        import webbrowser

        webbrowser.open(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # the server may have seen to it, or not
        server.run()
    print("The workbench has ended.")
