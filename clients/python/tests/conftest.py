"""Runs the tests against the real program, built from this checkout or named by MEMORYD_TEST_BINARY."""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from patience import PATIENCE

import memoryd

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> str:
    named = os.environ.get("MEMORYD_TEST_BINARY")
    if named:
        return named
    if shutil.which("go") is None:
        pytest.skip("neither MEMORYD_TEST_BINARY nor Go is here: the tests against the real program are skipped")
    path = tmp_path_factory.mktemp("bin") / "memoryd"
    subprocess.run(["go", "build", "-o", str(path), "./cmd/memoryd"], cwd=ROOT, check=True)
    return str(path)


class Server:
    """Is one running memoryd, which can be stopped and started again at the same address."""

    def __init__(self, binary: str, data: Path, listen: str = "127.0.0.1:0") -> None:
        self.binary, self.data, self.listen, self.process = binary, data, listen, None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [self.binary, "serve", "--listen", self.listen, "--data", str(self.data)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self.process.stdout:
            if found := re.search(r"ready on (http://([\d.:]+))", line):
                self.url, self.listen = found.groups()
                # What the server says later is read too: it would stop at a full pipe.
                self.rest = threading.Thread(target=self.process.stdout.read, daemon=True)
                self.rest.start()
                return
        raise RuntimeError("memoryd did not start")

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
            self.rest.join()
            self.process.stdout.close()


@pytest.fixture(scope="session")
def server(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    s = Server(binary, tmp_path_factory.mktemp("data"))
    yield s
    s.stop()


@pytest.fixture
def own_server(binary: str, tmp_path: Path) -> Iterator[Server]:
    """Is a server that a test may stop."""
    s = Server(binary, tmp_path / "data", lasting_address())
    yield s
    s.stop()


def lasting_address() -> str:
    """Gives a free address that the system hands to nobody while a server is stopped: its own ports begin higher."""
    for _ in range(100):
        port = random.randrange(15_000, 30_000)
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                return f"127.0.0.1:{port}"
    raise RuntimeError("no free port between 15000 and 30000")


@pytest.fixture
def client(server: Server, request: pytest.FixtureRequest) -> memoryd.Client:
    return memoryd.Client(server.url, workspace=request.node.nodeid.replace("/", ".")[-200:])


@pytest.fixture
def recorder(client: memoryd.Client) -> Iterator[memoryd.Recorder]:
    r = memoryd.Recorder(client, interval=0.02)
    memoryd.configure(r)
    yield r
    r.close()


@pytest.fixture
def recorded(recorder: memoryd.Recorder) -> Callable[[str], list[dict]]:
    """Gives the calls of a tool as the server has them, oldest first."""

    def calls(tool: str) -> list[dict]:
        assert recorder.flush(PATIENCE)
        path = f"/v1/workspaces/{recorder.client.workspace}/tools/{tool}/calls?limit=100"
        answer, _ = recorder.client._request("GET", path)
        return sorted(answer["calls"], key=lambda c: c["create_time"])

    return calls
