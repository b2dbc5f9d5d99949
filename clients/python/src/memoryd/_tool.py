"""Records the calls of a Python function."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any, TypeVar, overload

from ._client import Call, Forecast, MemorydError
from ._context import current_run, metadata
from ._recorder import Recorder, monotonic, now, text_of

log = logging.getLogger("memoryd")

F = TypeVar("F", bound=Callable[..., Any])

_default: Recorder | None = None


def default_recorder() -> Recorder:
    """Gives the recorder that is used where none is named; it is made from the environment at its first use."""
    global _default
    if _default is None:
        _default = Recorder()
    return _default


def configure(recorder: Recorder) -> None:
    """Makes a recorder the one that is used where none is named."""
    global _default
    _default = recorder


class Observation:
    """Is one call under way: made when it starts, finished once with what came of it. Adapters of frameworks use it."""

    def __init__(self, tool: str, input: Any, *, recorder: Recorder | None = None, **extra: Any) -> None:
        self.tool, self.recorder = tool, recorder
        self.input: Any = input if isinstance(input, dict | str) else text_of(input)
        self.started, self.created = monotonic(), now()
        self.metadata = metadata(**extra)
        self._done = False

    def finish(self, output: Any = None, *, error: BaseException | str | None = None, success: bool = True) -> None:
        """Records the call, once; never raises. An error makes it a failure, with the error's text as output."""
        if self._done:
            return
        self._done = True
        try:
            if isinstance(error, BaseException):
                self.metadata.setdefault("error_type", type(error).__name__)
                output = _error_text(error)
            elif error is not None:
                output = error
            (self.recorder or default_recorder()).record(
                Call(
                    tool_name=self.tool,
                    input=self.input,
                    output=text_of(output),
                    success=success and error is None,
                    time_cost=round(monotonic() - self.started, 6),
                    create_time=self.created,
                    metadata=self.metadata,
                )
            )
        except Exception:
            log.exception("a call of %s was not recorded", self.tool)


@overload
def tool(function: F) -> F: ...
@overload
def tool(
    function: None = None,
    *,
    name: str = ...,
    recorder: Recorder | None = ...,
    on_forecast: Callable[[Forecast], Any] | None = ...,
    forecast_timeout: float = ...,
    is_error: Callable[[Any], bool] | None = ...,
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    *,
    name: str = "",
    recorder: Recorder | None = None,
    on_forecast: Callable[[Forecast], Any] | None = None,
    forecast_timeout: float = 0.3,
    is_error: Callable[[Any], bool] | None = None,
) -> F | Callable[[F], F]:
    """Records each call of a function: sync, async, generator or async generator.

    name is the tool's, the function's by default. on_forecast is given what the history says of a call before it is
    made (within forecast_timeout seconds, else not at all) and may raise to prevent it. is_error tells a result that
    means failure; by default one with a true `isError` or `is_error`. Nothing else is raised that the function did
    not raise.
    """

    def decorate(f: F) -> F:
        probe = _Probe(f, name or f.__name__, recorder, on_forecast, forecast_timeout, is_error or _is_error)
        if inspect.isasyncgenfunction(f):
            wrapper: Any = probe.async_generator
        elif inspect.iscoroutinefunction(f):
            wrapper = probe.coroutine
        elif inspect.isgeneratorfunction(f):
            wrapper = probe.generator
        else:
            wrapper = probe.function
        return functools.wraps(f)(wrapper())  # type: ignore[return-value]

    return decorate if function is None else decorate(function)


class _Probe:
    """Makes the wrappers of one function."""

    def __init__(
        self,
        f: Callable[..., Any],
        name: str,
        recorder: Recorder | None,
        on_forecast: Callable[[Forecast], Any] | None,
        forecast_timeout: float,
        is_error: Callable[[Any], bool],
    ) -> None:
        self.f, self.name, self.recorder = f, name, recorder
        self.on_forecast, self.forecast_timeout, self.is_error = on_forecast, forecast_timeout, is_error
        self.signature = inspect.signature(f)

    def start(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        return Observation(self.name, self.arguments(args, kwargs), recorder=self.recorder)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Names the arguments as the function does, without self and cls, at their values before the call."""
        try:
            bound = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            bound = {**{str(i): a for i, a in enumerate(args)}, **kwargs}
        named = {k: v for k, v in bound.items() if k not in ("self", "cls")}
        for parameter in self.signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD and isinstance(named.get(parameter.name), dict):
                named.update(named.pop(parameter.name))
        return {k: v if isinstance(v, str | int | float | bool | None) else _snapshot(v) for k, v in named.items()}

    def forecast(self, observation: Observation) -> Forecast | None:
        try:
            here = current_run()
            client = (self.recorder or default_recorder()).client
            return client.preflight(
                self.name,
                observation.input,
                run_id=here.run_id,
                agent_id=here.agent_id,
                session_id=here.session_id,
                timeout=self.forecast_timeout,
            )
        except MemorydError:
            return None
        except Exception:
            log.exception("no forecast for %s", self.name)
            return None

    def ask(self, observation: Observation) -> None:
        if self.on_forecast is not None and (forecast := self.forecast(observation)) is not None:
            self.on_forecast(forecast)

    def end(self, observation: Observation, result: Any) -> None:
        observation.finish(result, success=not self._failed(result))

    def _failed(self, result: Any) -> bool:
        try:
            return bool(self.is_error(result))
        except Exception:
            return False

    def function(self) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            observation = self.start(args, kwargs)
            self.ask(observation)
            try:
                result = self.f(*args, **kwargs)
            except BaseException as e:
                observation.finish(error=e)
                raise
            self.end(observation, result)
            return result

        return call

    def coroutine(self) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            observation = self.start(args, kwargs)
            if self.on_forecast is not None:
                forecast = await asyncio.to_thread(self.forecast, observation)
                if forecast is not None:
                    self.on_forecast(forecast)
            try:
                result = await self.f(*args, **kwargs)
            except BaseException as e:
                observation.finish(error=e)
                raise
            self.end(observation, result)
            return result

        return call

    def generator(self) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            observation, parts = self.start(args, kwargs), _Parts()
            self.ask(observation)
            try:
                result = yield from parts.watch(self.f(*args, **kwargs))
            except GeneratorExit:
                observation.finish(parts.text())
                raise
            except BaseException as e:
                observation.finish(error=e)
                raise
            observation.finish(parts.text() or result)
            return result

        return call

    def async_generator(self) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            observation, parts = self.start(args, kwargs), _Parts()
            self.ask(observation)
            try:
                async for item in self.f(*args, **kwargs):
                    parts.add(item)
                    yield item
            except GeneratorExit:
                observation.finish(parts.text())
                raise
            except BaseException as e:
                observation.finish(error=e)
                raise
            observation.finish(parts.text())

        return call


class _Parts:
    """Gathers what a generator yields, up to a limit."""

    def __init__(self, limit: int = 1 << 16) -> None:
        self.parts: list[str] = []
        self.room = limit

    def add(self, item: Any) -> None:
        if self.room > 0:
            text = text_of(item, self.room)
            self.parts.append(text)
            self.room -= len(text)

    def watch(self, items: Any) -> Any:
        """Passes on everything that goes in and out of a generator, and its result."""

        def through() -> Any:
            try:
                item = next(items)
                while True:
                    self.add(item)
                    try:
                        sent = yield item
                    except GeneratorExit:
                        items.close()
                        raise
                    except BaseException as e:
                        item = items.throw(e)
                    else:
                        item = next(items) if sent is None else items.send(sent)
            except StopIteration as end:
                return end.value

        return through()

    def text(self) -> str:
        return "\n".join(self.parts) if any("\n" in p or len(p) > 40 for p in self.parts) else "".join(self.parts)


def _error_text(error: BaseException) -> str:
    """Words an exception as tracebacks do; what runtimes put into a cancellation says nothing of the tool."""
    name, text = type(error).__name__, str(error)
    if isinstance(error, asyncio.CancelledError):
        return f"{name}: the call was cancelled before it ended"
    return f"{name}: {text}" if text else name


def _snapshot(value: Any) -> Any:
    """Copies a list or dict as JSON would; other values become text."""
    if isinstance(value, list | tuple):
        return [_snapshot(v) if not isinstance(v, str | int | float | bool | None) else v for v in value]
    if isinstance(value, dict):
        return {str(k): v if isinstance(v, str | int | float | bool | None) else _snapshot(v) for k, v in value.items()}
    return text_of(value, 1 << 16)


def _is_error(result: Any) -> bool:
    """Tells MCP's results that say they failed."""
    for name in ("isError", "is_error"):
        flag = result.get(name) if isinstance(result, dict) else getattr(result, name, None)
        if flag is True:
            return True
    return False
