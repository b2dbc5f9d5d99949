from __future__ import annotations

import asyncio
import http.server
import json
import threading
from pathlib import Path

import pytest

import memoryd


def add(client: memoryd.Client, n: int = 1, **fields) -> memoryd.Recorded:
    calls = [
        memoryd.Call(
            "search",
            {"query": f"q{i}"},
            output="Found 3 results",
            metadata={"tool_call_id": f"c{i}"},
            create_time="2026-01-01T00:00:00Z",
            **fields,
        )
        for i in range(n)
    ]
    return client.record(calls, wait=True)


def test_calls_are_recorded_once(client: memoryd.Client) -> None:
    assert (add(client, 3).added, add(client, 3).duplicates) == (3, 3)


def test_a_rejected_item_is_named_and_the_others_go_on(client: memoryd.Client) -> None:
    answer = client.record([memoryd.Call("", {}), memoryd.Call("ok", {"a": 1}, output="fine")])
    assert answer.added == 1
    assert [r["index"] for r in answer.rejected] == [0]


def test_guidelines_come_with_a_tag_and_unknown_names(client: memoryd.Client) -> None:
    add(client, 2)
    client.summarize(["search"])
    found = client.guidelines(["search", "nope"])
    assert found is not None
    assert found.unknown == ["nope"]
    assert "## Core Function" in found.tools[0].guideline
    assert found.etag and client.guidelines(["search", "nope"], etag=found.etag) is None


def test_tools_without_memory_are_unknown_not_an_error(client: memoryd.Client) -> None:
    found = client.guidelines(["never_seen"])
    assert found is not None and found.tools == [] and found.unknown == ["never_seen"]


def test_a_forecast_without_history_says_so(client: memoryd.Client) -> None:
    assert client.preflight("never_seen", {"a": 1}, run_id="r").risk is None


def test_compaction_gives_messages(client: memoryd.Client) -> None:
    messages = [{"role": "user", "content": "hello"}]
    assert client.compact(messages, max_input_tokens=1000).messages == messages


def test_search_finds_a_tool_by_its_name(client: memoryd.Client) -> None:
    add(client)
    assert [t["tool_name"] for t in client.search("search")] == ["search"]


def test_the_async_client_does_the_same(client: memoryd.Client) -> None:
    async def both() -> None:
        c = memoryd.AsyncClient(client.url, workspace=client.workspace)
        await c.record([memoryd.Call("t", "x", "y")])
        found = await c.guidelines(["t"])
        assert found is not None and [m.tool_name for m in found.tools] == ["t"]
        assert (await c.preflight("t", "x")).answer

    asyncio.run(both())


def test_an_absent_server_is_unavailable() -> None:
    with pytest.raises(memoryd.Unavailable):
        memoryd.Client("127.0.0.1:1", timeout=1).search("x")


def test_a_wrong_address_names_the_field() -> None:
    with pytest.raises(ValueError, match="url"):
        memoryd.Client("ftp://x")


def test_a_refused_field_says_which(client: memoryd.Client) -> None:
    with pytest.raises(memoryd.MemorydError, match="tool_name") as e:
        client._request("POST", "/preflight_tool_call", {"tool_name": 5})
    assert e.value.status == 422


class Broken(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b"<html>bad gateway</html>"
        self.send_response(self.server.status)
        self.send_header("Retry-After", "7")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_errors_that_pass_are_unavailable_with_the_servers_wish(status: int) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Broken) as s:
        s.status = status
        threading.Thread(target=s.serve_forever, daemon=True).start()
        client = memoryd.Client(f"http://127.0.0.1:{s.server_port}")
        with pytest.raises(memoryd.Unavailable) as e:
            client.preflight("t", {})
        s.shutdown()
    assert (e.value.status, e.value.retry_after) == (status, 7)


def test_every_path_of_the_client_is_in_the_description(client: memoryd.Client) -> None:
    spec, _ = client._request("GET", "/openapi.json")
    for path in (
        "/add_tool_call_result",
        "/retrieve_tool_memory",
        "/summary_tool_memory",
        "/preflight_tool_call",
        "/compact_conversation",
        "/v1/workspaces/{workspace}/tools",
    ):
        assert path in spec["paths"]
    fields = spec["components"]["schemas"]["CallRequest"]["properties"]
    assert set(memoryd.Call("t", metadata={"a": 1}, create_time="x").to_json()) <= set(fields)


def test_one_version_for_server_and_clients(client: memoryd.Client) -> None:
    spec, _ = client._request("GET", "/openapi.json")
    package = json.loads((Path(__file__).parents[2] / "typescript" / "package.json").read_text())
    assert memoryd.__version__ == spec["info"]["version"] == package["version"]
