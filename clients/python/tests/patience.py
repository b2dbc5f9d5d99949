"""How tests wait: for what happens, not for time."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import pytest

# How many seconds a test waits for what comes by itself: it ends sooner, unless something is broken.
PATIENCE = 120


async def cancel_once(happened: Callable[[], object], run: Awaitable) -> None:
    """Lets a run go until something has happened, and cancels it then, as a time-out would."""
    task = asyncio.ensure_future(run)
    end = time.monotonic() + PATIENCE
    while not happened():
        assert not task.done() and time.monotonic() < end, "the run never came to that"
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def run_python(*args: str, **options) -> subprocess.CompletedProcess:
    """Runs this Python anew. Some virtual machines now and then fail to start a process (EFAULT): once more, then."""
    options.setdefault("timeout", PATIENCE)
    try:
        return subprocess.run([sys.executable, *args], **options)
    except OSError as e:
        if e.errno != errno.EFAULT:
            raise
        return subprocess.run([sys.executable, *args], **options)
