"""An agent books flights before and after it has a memory of its tool.

Start a server with `memoryd`, then run this program. The model is scripted, so you
need no key: it copies the user's date, unless advice tells it about `date`.
"""

import datetime
import json
import os
import urllib.request

SERVER = os.environ.get("MEMORYD_URL", "http://127.0.0.1:8002")
WORKSPACE = "example"
TASKS = [("HAT028", "5 May 2026"), ("HAT084", "6 May 2026"), ("HAT175", "7 May 2026"), ("HAT232", "8 May 2026")]


def memoryd(path, **body):
    """Asks the server."""
    body = json.dumps({"workspace_id": WORKSPACE, **body}).encode()
    request = urllib.request.Request(f"{SERVER}/{path}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def book(flight, date):
    """The tool: it accepts dates of one form only."""
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        return "Error: date must be in format YYYY-MM-DD"
    return f"Booked {flight} on {date}"


def model(flight, date, advice):
    """The scripted model: it writes another date only if the advice is about dates."""
    if "`date`" in advice:
        date = datetime.datetime.strptime(date, "%d %B %Y").date().isoformat()
    return {"flight": flight, "date": date}


def work(run, flight, date, remembers):
    """Books one flight and returns how many calls failed."""
    advice, failed = "", 0
    for _ in range(2):
        call = model(flight, date, advice)
        if remembers:
            forecast = memoryd("preflight_tool_call", tool_name="book", input=call, trajectory_id=run)
            if forecast["warnings"]:
                call = model(flight, date, " ".join(w["text"] for w in forecast["warnings"]))
        output = book(**call)
        memoryd("add_tool_call_result", tool_name="book", include_history=False, tool_call_results=[
            {"input": call, "output": output, "metadata": {"trajectory_id": run}}])
        if not output.startswith("Error"):
            break
        failed += 1
        advice = "the tool complained about `date`"
    return failed


for remembers in (False, True):
    failed = sum(work(f"run-{remembers}-{flight}", flight, date, remembers) for flight, date in TASKS)
    print(f"{'with' if remembers else 'without'} memory: {failed} of {len(TASKS)} tasks began with a failed call")
    memoryd("summary_tool_memory", tool_names="book")
