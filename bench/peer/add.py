"""The load of "bench add" from Python's standard library, another generator that is not ours.

    python3 bench/peer/add.py 127.0.0.1:8002 SECONDS CONNECTIONS

It is slower than the server by far, so compare its latencies at few connections, not its rate.
"""
import http.client
import json
import sys
import threading
import time

WORDS = "the ring keeps the newest slots and lets the oldest go without a second page; " * 26


def body(n):
    output = ("found 12 results for request %012d: " % n + WORDS)[: 2048 - 77]
    call = {"input": {"query": "how to keep a ring buffer of slots", "language": "en", "max_results": 12},
            "output": output, "success": True, "time_cost": 1.25, "token_cost": 512}
    return json.dumps({"workspace_id": "bench", "tool_name": "tool-%06d" % (n * 7919 % 1000), "async": True,
                       "include_history": False, "tool_call_results": [call]})


def send(address, until, first, times):
    connection = http.client.HTTPConnection(address, timeout=30)
    n = first
    while time.perf_counter() < until:
        n += 1
        text = body(n)
        start = time.perf_counter()
        connection.request("POST", "/add_tool_call_result", text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        data = answer.read()
        times.append(time.perf_counter() - start)
        if answer.status != 200 or not json.loads(data)["success"]:
            raise SystemExit("answered %d: %s" % (answer.status, data[:300]))


def main(address, seconds, connections):
    times = []
    until = time.perf_counter() + float(seconds)
    threads = [threading.Thread(target=send, args=(address, until, i * 10**9, times)) for i in range(int(connections))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    times.sort()
    print("%.0f adds/s, p50 %.0f us, p99 %.0f us" % (
        len(times) / float(seconds), times[len(times) // 2] * 1e6, times[len(times) * 99 // 100] * 1e6))


main(*sys.argv[1:4])
