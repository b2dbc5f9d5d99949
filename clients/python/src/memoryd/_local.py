"""Finds the user's server on this machine by its socket, and has the program memoryd start it where none runs."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

_tried = False


class Connection(http.client.HTTPConnection):
    """Is a connection to a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Opens it."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def socket_path() -> str:
    """Gives the socket of the server that this user's programs use; "" is none."""
    if not hasattr(socket, "AF_UNIX"):
        return ""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        path = os.path.join(runtime, "memoryd", "memoryd.sock")
    else:
        home = Path.home()
        cache = (
            home / "Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or home / ".cache"
        )
        path = os.path.join(cache, "memoryd", "run", "memoryd.sock")
    return path if os.path.exists(path) else ""


def start() -> None:
    """Starts a server in the background, once, where the program memoryd is installed."""
    global _tried
    program = shutil.which("memoryd")
    if _tried or not program or os.environ.get("MEMORYD_NO_DAEMON"):
        return
    _tried = True
    with contextlib.suppress(OSError):  # the background command starts the server in a session of its own and ends
        subprocess.Popen(
            [program, "status", "--start"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
