"""The server behind the page: on this machine only, for whoever knows the token, and for reading only.

Every route is a GET of something computed from numbers in the address, or from a name out of a list that the server has
made itself. Nothing that is sent is ever evaluated. The page may load nothing but what this server serves.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import parse_qs, urlsplit

from quorate.base.errors import QuorateError
from quorate.explore.answers import Answers
from quorate.explore.consult import Consultation
from quorate.explore.finds import Finds
from quorate.explore.graph import Graph
from quorate.explore.session import Path, WrongPathError

LOOPBACK = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PAGE = FilePath(__file__).parent / "page"
FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "explore.css": ("explore.css", "text/css; charset=utf-8"),
    "explore.js": ("explore.js", "text/javascript; charset=utf-8"),
}


class Server(ThreadingHTTPServer):
    """Runs none of the model's code: what needs it is asked of other processes, and not waited for without end."""

    daemon_threads = True

    def __init__(self, answers: Answers, finds: Finds, graph: Graph, consultation: Consultation, port: int = 0) -> None:
        self.answers = answers
        self.consultation = consultation
        self.finds = finds
        self.graph = graph
        self.token = secrets.token_urlsafe(18)
        self.lock = threading.Lock()
        super().__init__((LOOPBACK, port), Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def finds_view(self) -> dict[str, Any]:
        return {"finds": self.finds.to_json(), "offers": list(self.finds.offers)}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the midst of an answer is nothing to report."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = 60
    server_version = "quorate"
    sys_version = ""

    def do_GET(self) -> None:
        """Everything there is. Whoever does not know the token, or comes by another name, learns nothing."""
        try:
            address = urlsplit(self.path)
        except ValueError:  # no address of ours
            self._send(404, b"not found\n", "text/plain; charset=utf-8")
            return
        token, _, rest = address.path.removeprefix("/").partition("/")
        hosts = (f"{LOOPBACK}:{self.server.port}", f"localhost:{self.server.port}")
        # A page elsewhere could give this address a name of its own, and ask under that name.
        if self.headers.get("Host") not in hosts or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._send(404, b"not found\n", "text/plain; charset=utf-8")
            return
        if rest in FILES:
            name, kind = FILES[rest]
            content = (PAGE / name).read_bytes()
            if name == "explore.css":
                content = colours().encode() + content
            self._send(200, content, kind)
            return
        try:
            answer = self._answer(rest, parse_qs(address.query))
        except QuorateError as error:
            self._json(400, {"error": error.message})
            return
        except Exception as error:  # the page says so, and goes on
            self._json(500, {"error": f"internal error, {type(error).__name__}: {error}"})
            return
        if answer is None:
            self._send(404, b"not found\n", "text/plain; charset=utf-8")
        else:
            self._json(200, answer)

    def _answer(self, route: str, query: dict[str, list[str]]) -> Any:
        server = self.server
        if route == "api/system":
            return server.answers.ask("system")
        if route in ("api/finds", "api/graph"):
            with server.lock:
                return server.finds_view() if route == "api/finds" else server.graph.to_json()
        if route == "api/find":
            with server.lock:
                found = server.finds.look_for(query.get("name", [""])[0])
                return server.finds_view() if found else None
        if route not in ("api/at", "api/chart", "api/reductions"):
            return None
        path = parse_path(query.get("path", ["0"])[0])
        if route != "api/reductions":
            loop_from = server.finds.loop_of(path) if route == "api/chart" else None
            return server.answers.ask("at" if route == "api/at" else "chart", path, loop_from)
        server.answers.ask("exists", path)  # a path that leads nowhere is refused here
        with server.lock:
            return server.consultation.to_json(path)

    def _json(self, status: int, content: dict[str, Any]) -> None:
        self._send(status, json.dumps(content).encode(), "application/json")

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the terminal shows where the page is, and nothing else."""


def parse_path(text: str) -> Path:
    """`0.3.1`: numbers and dots alone."""
    parts = text.split(".") if text else ["0"]
    if not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
        raise WrongPathError("a path is numbers and dots: 0.3.1")
    return tuple(map(int, parts))


def colours() -> str:
    """The colours of charts and pages, light and dark, and the classes of a chart."""
    from quorate.render.html.document import palette

    return palette()
