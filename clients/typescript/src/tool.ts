/** Records the calls of functions, and names the run that they belong to. */

import type { Forecast, Json } from "./client.js";
import { defaultRecorder, type Recorder } from "./recorder.js";

/** The ids that calls carry; runId becomes metadata.trajectory_id. */
export interface RunContext {
  runId?: string;
  agentId?: string;
  sessionId?: string;
}

interface Storage {
  run<T>(store: RunContext, f: () => T): T;
  getStore(): RunContext | undefined;
}

const storage = makeStorage();

/** Node, Bun, Deno and edge runtimes have AsyncLocalStorage in one of two places; without one, ids are given by hand. */
function makeStorage(): Storage | undefined {
  const g = globalThis as {
    AsyncLocalStorage?: new () => Storage;
    process?: { getBuiltinModule?: (name: string) => { AsyncLocalStorage: new () => Storage } | undefined };
  };
  const found = g.process?.getBuiltinModule?.("node:async_hooks")?.AsyncLocalStorage ?? g.AsyncLocalStorage;
  return found ? new found() : undefined;
}

/** Puts the calls that f makes into one run; without a runId it gets a new one. */
export function withRun<T>(context: RunContext, f: () => T): T {
  const inner = { ...currentRun(), ...context, runId: context.runId ?? crypto.randomUUID() };
  return storage ? storage.run(inner, f) : f();
}

/** Gives the ids in force here. */
export function currentRun(): RunContext {
  return storage?.getStore() ?? {};
}

/** Is one call under way: made when it starts, finished once with what came of it. Integrations use it. */
export class Observation {
  private readonly created = new Date().toISOString();
  private readonly started = performance.now();
  private readonly input: Json | string;
  private done = false;

  constructor(
    readonly tool: string,
    input: unknown,
    private readonly options: { recorder?: Recorder; toolCallId?: string } & RunContext = {},
  ) {
    this.input = typeof input === "string" ? input : asObject(input);
  }

  /** Records a call that gave a result. */
  succeed(output: unknown, success = true, ms?: number): void {
    this.finish(text(output), success, undefined, ms);
  }

  /** Records a call that failed. */
  fail(error: unknown, ms?: number): void {
    const name = error instanceof Error ? error.name : undefined;
    this.finish(error instanceof Error ? `${error.name}: ${error.message}` : text(error), false, name, ms);
  }

  private finish(output: string, success: boolean, errorType?: string, ms?: number): void {
    if (this.done) return;
    this.done = true;
    try {
      const here = currentRun();
      const ids = {
        tool_call_id: this.options.toolCallId,
        trajectory_id: here.runId ?? this.options.runId,
        agent_id: here.agentId ?? this.options.agentId,
        session_id: here.sessionId ?? this.options.sessionId,
        error_type: errorType,
      };
      (this.options.recorder ?? defaultRecorder()).record({
        tool_name: this.tool,
        input: this.input,
        output: output.slice(0, 1 << 20),
        success,
        time_cost: Math.round((ms ?? performance.now() - this.started) * 1000) / 1e6,
        create_time: this.created,
        metadata: Object.fromEntries(Object.entries(ids).filter(([, v]) => v)),
      });
    } catch {
      // Recording never breaks the program that records.
    }
  }
}

export interface WrapOptions {
  recorder?: Recorder;
  /** Is given what the history says of a call before it is made, and may throw to prevent it. */
  onForecast?: (forecast: Forecast) => void | Promise<void>;
  /** Milliseconds that the forecast may take; without one in time the call is made. 300. */
  forecastTimeout?: number;
  /** Tells a result that means failure; by default one whose isError or is_error is true. */
  isError?: (result: unknown) => boolean;
}

/**
 * Records each call of a function: one that returns a value, a promise, or an (async) iterator. The wrapped function
 * behaves as before; one object argument is the input, several are named arg0, arg1, ... Only with onForecast does a
 * function that was synchronous return a promise.
 */
export function wrapTool<A extends unknown[], R>(
  name: string,
  f: (...args: A) => R,
  options: WrapOptions = {},
): (...args: A) => R {
  const failed = options.isError ?? isErrorResult;
  const call = (self: unknown, args: A): R => {
    const observation = new Observation(name, inputOf(args), options);
    let result: R;
    try {
      result = f.apply(self, args);
    } catch (e) {
      observation.fail(e);
      throw e;
    }
    if (isPromise(result)) {
      result.then(
        (value) => observation.succeed(value, !quietly(failed, value)),
        (e: unknown) => observation.fail(e),
      );
      return result;
    }
    if (isIterator(result)) return watched(result, observation) as R;
    observation.succeed(result, !quietly(failed, result));
    return result;
  };
  const wrapped = function (this: unknown, ...args: A): R {
    if (!options.onForecast) return call(this, args);
    return (async () => {
      const forecast = await ask(name, inputOf(args), options);
      if (forecast) await options.onForecast?.(forecast);
      return call(this, args);
    })() as R;
  };
  Object.defineProperty(wrapped, "name", { value: f.name });
  return wrapped;
}

async function ask(tool: string, input: Json | string, options: WrapOptions): Promise<Forecast | undefined> {
  try {
    const client = (options.recorder ?? defaultRecorder()).client;
    return await client.preflight(tool, input, { ...currentRun(), timeout: options.forecastTimeout ?? 300 });
  } catch {
    return undefined;
  }
}

/** Passes on what goes in and out of an iterator, and records what came out when it ends. */
function watched<T extends object>(iterator: T, observation: Observation): T {
  const parts: string[] = [];
  let room = 1 << 16;
  const note = (step: IteratorResult<unknown>): IteratorResult<unknown> => {
    if (step.done) observation.succeed(parts.join("") || step.value);
    else if (room > 0) {
      const part = text(step.value).slice(0, room);
      room -= part.length;
      parts.push(part);
    }
    return step;
  };
  const step = (method: string, args: unknown[]): unknown => {
    try {
      const result = (iterator as Record<string, (...a: unknown[]) => unknown>)[method]!(...args);
      if (isPromise(result)) {
        return result.then(
          (r) => note(r as IteratorResult<unknown>),
          (e: unknown) => {
            observation.fail(e);
            throw e;
          },
        );
      }
      return note(result as IteratorResult<unknown>);
    } catch (e) {
      observation.fail(e);
      throw e;
    }
  };
  const proxy: T = new Proxy(iterator, {
    get(target, key): unknown {
      if (key === Symbol.iterator || key === Symbol.asyncIterator) return key in target ? () => proxy : undefined;
      const value = Reflect.get(target, key) as unknown;
      if ((key === "next" || key === "return" || key === "throw") && typeof value === "function")
        return (...args: unknown[]) => step(key, args);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return proxy;
}

function inputOf(args: unknown[]): Json | string {
  if (args.length === 1) return typeof args[0] === "string" ? { arg0: args[0] } : asObject(args[0]);
  return asObject(Object.fromEntries(args.map((a, i) => [`arg${i}`, a])));
}

/** Copies a value as JSON has it; what is no object becomes its text. */
function asObject(value: unknown): Json | string {
  try {
    const copy = JSON.parse(JSON.stringify(value ?? {}, plain)) as unknown;
    return typeof copy === "object" && copy !== null && !Array.isArray(copy) ? (copy as Json) : JSON.stringify(copy);
  } catch {
    return String(value);
  }
}

/** Gives what a tool returned as text: a string as it is, the rest as JSON. */
export function text(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value, plain) ?? String(value);
  } catch {
    return String(value);
  }
}

function plain(_: string, value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  return typeof value === "bigint" ? value.toString() : value;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null)?.then === "function";
}

function isIterator(value: unknown): value is object {
  if (typeof value !== "object" || value === null || typeof (value as { next?: unknown }).next !== "function")
    return false;
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

function isErrorResult(result: unknown): boolean {
  const r = result as { isError?: unknown; is_error?: unknown } | null | undefined;
  return r?.isError === true || r?.is_error === true;
}

function quietly(f: (value: unknown) => boolean, value: unknown): boolean {
  try {
    return f(value);
  } catch {
    return false;
  }
}
