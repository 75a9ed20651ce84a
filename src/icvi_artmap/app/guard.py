"""Who may talk to the server: the page that was opened with the token, and nobody else."""

from __future__ import annotations

import hmac
import re
from typing import Any

#: Headers of every answer. The page can load what the server itself has, and nothing else.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
#: Where a request may come from by the word of the browser: our page, or the address bar.
OWN_SITES = frozenset(["same-origin", "none"])

FOREIGN_HOST = "This server answers to its own address only."
FOREIGN_ORIGIN = "Another page may not ask this server. Open the address in a tab of its own."
NO_TOKEN = "The address lacks the token. Use the whole address that icvi-artmap app has printed."
BAD_PATH = "There is no such path."


class Guard:
    """ASGI application that refuses a request, or passes it on to another application.

    Parameters
    ----------
    app : ASGI application
    token : str
        The first part of every path.
    hosts : sequence of str
        What the header Host may be: with another one, a foreign name has been made to lead here
        (DNS rebinding).
    """

    def __init__(self, app: Any, token: str, hosts: tuple[str, ...]) -> None:
        self._app, self._token, self._hosts = app, token.encode(), hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        why = self.refusal(scope)
        if why is None:
            await self._app(scope, receive, send_with_headers)
            return
        body = why.encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send_with_headers({"type": "http.response.start", "status": 403, "headers": headers})
        await send_with_headers({"type": "http.response.body", "body": body})

    def refusal(self, scope: Any) -> str | None:
        """Why a request is refused; None if it is not."""
        found: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts = found.get("host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return FOREIGN_HOST
        if any(origin != f"http://{hosts[0]}" for origin in found.get("origin", [])):
            return FOREIGN_ORIGIN
        if any(site not in OWN_SITES for site in found.get("sec-fetch-site", [])):
            return FOREIGN_ORIGIN
        if scope["method"] not in ("GET", "HEAD") and not found.get("origin"):
            return FOREIGN_ORIGIN
        parts = re.split(r"[/\\]", scope["path"])
        token = parts[1] if len(parts) > 2 else ""
        if not hmac.compare_digest(token.encode(), self._token):
            return NO_TOKEN
        return BAD_PATH if ".." in parts or "\0" in scope["path"] else None
