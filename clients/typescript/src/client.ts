/** Speaks to a memoryd server over HTTP. Needs fetch and nothing else. */

import { overSocket, socketPath, start } from "./node.js";

export type Json = Record<string, unknown>;

/** One tool call. time_cost is in seconds; token_cost -1 means unknown; create_time is RFC 3339, now if left out. */
export interface Call {
  tool_name: string;
  input?: Json | string;
  output?: string;
  success?: boolean;
  time_cost?: number;
  token_cost?: number;
  create_time?: string;
  metadata?: Json;
}

/** What became of recorded calls; rejected names each item that was not taken. */
export interface Recorded {
  added: number;
  duplicates: number;
  rejected: { index: number; reason: string }[];
  answer: string;
}

/** What is known of one tool. guideline is "" until one was written. */
export interface ToolMemory {
  tool_name: string;
  guideline: string;
  statistics: Json;
  author: string;
}

/** The memories of the tools asked for, in that order, and the names that are unknown. */
export interface Guidelines {
  tools: ToolMemory[];
  unknown: string[];
  text: string;
  etag: string;
}

/** What the history says of a planned call. risk is the probability that it fails, null without a history. */
export interface Forecast {
  risk: number | null;
  base_rate: number | null;
  warnings: { text: string; severity: "stop" | "ask" | "note"; calls: string[] }[];
  suggestion: unknown;
  answer: string;
}

/** A compacted conversation. reason is a stable word; report has the sizes and what became of each message. */
export interface Compaction<M = unknown> {
  messages: M[];
  compacted: boolean;
  reason: string;
  report: Json;
}

/** Says that the server refused a request. status is 200 where it was understood but could not be served as asked. */
export class MemorydError extends Error {
  override name = "MemorydError";
  constructor(
    readonly status: number,
    readonly detail: string,
  ) {
    super(status === 200 ? `memoryd: ${detail}` : `memoryd answered ${status}: ${detail}`);
  }
}

/** Says that the server is away, overloaded or broken; retryAfter is its own wish in seconds. */
export class Unavailable extends MemorydError {
  override name = "Unavailable";
  constructor(
    status: number,
    detail: string,
    readonly retryAfter?: number,
  ) {
    super(status, detail);
  }
}

export interface ClientOptions {
  /**
   * Address of the server; MEMORYD_URL, else, without a key and where the runtime is Node, the socket of this user's
   * server on this machine, else http://127.0.0.1:8002.
   */
  url?: string;
  /** API key; MEMORYD_KEY. */
  key?: string;
  /** Namespace of the memories; MEMORYD_WORKSPACE, else "default". */
  workspace?: string;
  /** Milliseconds that a request may take; 30,000. */
  timeout?: number;
  fetch?: typeof globalThis.fetch;
}

interface Ids {
  runId?: string;
  agentId?: string;
  sessionId?: string;
}

/** Calls the endpoints that an agent needs. Methods reject with Unavailable or MemorydError and nothing else. */
export class Client {
  readonly url: string;
  readonly workspace: string;
  readonly timeout: number;
  /** Says that no address and no key were given: the memory of this machine is meant. */
  readonly local: boolean;
  /** The id of the key; "" is none. */
  readonly keyId: string;
  private readonly key: string;
  private readonly fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions = {}) {
    this.key = options.key ?? env("MEMORYD_KEY") ?? "";
    this.keyId = this.key.split("_")[1] ?? (this.key && "other");
    const given = options.url ?? env("MEMORYD_URL");
    this.local = !given && !this.key && !options.fetch;
    let url = given ?? "http://127.0.0.1:8002";
    if (!url.includes("://")) url = "http://" + url;
    const { protocol } = new URL(url);
    if (protocol !== "http:" && protocol !== "https:") throw new TypeError(`url: ${url} is not http or https`);
    this.url = url.replace(/\/+$/, "");
    this.workspace = options.workspace ?? env("MEMORYD_WORKSPACE") ?? "default";
    this.timeout = options.timeout ?? 30_000;
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Records calls, durably when it resolves; wait also waits for their judgement. */
  async record(calls: Call[], { wait = false, timeout }: { wait?: boolean; timeout?: number } = {}): Promise<Recorded> {
    const body = { workspace_id: this.workspace, tool_call_results: calls, async: !wait, include_history: false };
    const { answer } = await this.memory("/add_tool_call_result", body, {}, timeout);
    const metadata = answer.metadata as Json;
    const counts = (metadata.deduplication_stats ?? {}) as { added?: number; deduplicated?: number };
    return {
      added: counts.added ?? 0,
      duplicates: counts.deduplicated ?? 0,
      rejected: (metadata.rejected ?? []) as Recorded["rejected"],
      answer: String(answer.answer),
    };
  }

  /** Gives what is known of the tools; null when etag is still the answer's. */
  async guidelines(
    tools: string[],
    options: { maxTokens?: number; sessionId?: string; etag?: string; timeout?: number } = {},
  ): Promise<Guidelines | null> {
    const body: Json = { workspace_id: this.workspace, tool_names: tools, include_history: false };
    if (options.maxTokens) body.max_tokens = options.maxTokens;
    if (options.sessionId) body.session_id = options.sessionId;
    try {
      const headers: Record<string, string> = options.etag ? { "If-None-Match": options.etag } : {};
      const { answer, etag } = await this.memory("/retrieve_tool_memory", body, headers, options.timeout);
      const metadata = answer.metadata as { memory_list: Json[]; unknown_tool_names?: string[] };
      const memories = metadata.memory_list.map((m) => ({
        tool_name: String(m.when_to_use),
        guideline: String(m.content),
        statistics: ((m.metadata as Json | undefined)?.statistics ?? {}) as Json,
        author: String(m.author ?? ""),
      }));
      return { tools: memories, unknown: metadata.unknown_tool_names ?? [], text: String(answer.answer), etag };
    } catch (e) {
      if (e instanceof MemorydError && e.status === 304) return null;
      if (e instanceof MemorydError && e.status === 200 && e.detail.startsWith("No matching"))
        return { tools: [], unknown: tools, text: "", etag: "" };
      throw e;
    }
  }

  /** Says what the history tells of a call before it is made; runId names the run that the call belongs to. */
  async preflight(tool: string, input: Json | string, options: Ids & { timeout?: number } = {}): Promise<Forecast> {
    const body: Json = { workspace_id: this.workspace, tool_name: tool, input };
    if (options.runId) body.trajectory_id = options.runId;
    if (options.agentId) body.agent_id = options.agentId;
    if (options.sessionId) body.session_id = options.sessionId;
    const { answer: a } = await this.memory("/preflight_tool_call", body, {}, options.timeout);
    const warnings = ((a.warnings ?? []) as Json[]).map((w) => ({
      text: String(w.text),
      severity: (w.severity ?? "note") as "stop" | "ask" | "note",
      calls: (w.calls ?? []) as string[],
    }));
    return {
      risk: (a.risk ?? null) as number | null,
      base_rate: (a.base_rate ?? null) as number | null,
      warnings,
      suggestion: a.suggestion,
      answer: String(a.answer),
    };
  }

  /** Makes a conversation smaller; options are the members of the request, such as max_input_tokens or force. */
  async compact<M>(messages: M[], options: Json = {}): Promise<Compaction<M>> {
    const body = { workspace_id: this.workspace, ...options, messages };
    const { answer } = await this.request("POST", "/compact_conversation", body);
    return answer as unknown as Compaction<M>;
  }

  /** Finds tools by words of their names and guidelines, and by meaning where the server can; best first. */
  async search(query: string, limit = 10): Promise<Json[]> {
    const where = `/v1/workspaces/${encodeURIComponent(this.workspace)}/tools`;
    const { answer } = await this.request("GET", `${where}?${new URLSearchParams({ query, limit: String(limit) })}`);
    return answer.tools as Json[];
  }

  /** Has the guidelines of the tools written now; gives the server's answer in words. */
  async summarize(tools: string[], { force = false } = {}): Promise<string> {
    const body = { workspace_id: this.workspace, tool_names: tools, force };
    return String((await this.memory("/summary_tool_memory", body)).answer.answer);
  }

  /** Asks a tool-memory endpoint, whose refusals are answers with success false. */
  private async memory(path: string, body: Json, headers: Record<string, string> = {}, timeout?: number) {
    const reply = await this.request("POST", path, body, headers, timeout);
    if (reply.answer.success !== true) throw new MemorydError(200, String(reply.answer.answer ?? "no reason given"));
    return reply;
  }

  private async request(
    method: string,
    path: string,
    body?: Json,
    headers: Record<string, string> = {},
    timeout = this.timeout,
  ): Promise<{ answer: Json; etag: string }> {
    const send: Record<string, string> = { Accept: "application/json", ...headers };
    if (body !== undefined) send["Content-Type"] = "application/json";
    if (this.key) send.Authorization = `Bearer ${this.key}`;
    let response: { status: number; statusText: string; headers: Headers };
    let text: string;
    try {
      const content = body === undefined ? null : JSON.stringify(body);
      const socket = this.local ? socketPath() : "";
      if (socket) {
        [response, text] = await overSocket(socket, method, path, send, content, timeout);
      } else {
        const signal = AbortSignal.timeout(timeout);
        const answered = await this.fetch(this.url + path, { method, headers: send, body: content, signal });
        [response, text] = [answered, await answered.text()];
      }
    } catch (e) {
      if (this.local && /ECONNREFUSED|ENOENT/.test(reason(e))) start();
      throw new Unavailable(0, `${this.url}: ${reason(e)}`);
    }
    const answer = parse(text);
    if (response.status === 200 && answer) return { answer, etag: response.headers.get("ETag") ?? "" };
    const detail = sentence(answer) || text.slice(0, 200) || response.statusText;
    if (response.status === 429 || (response.status >= 500 && response.status !== 507) || response.status === 200) {
      const after = Number(response.headers.get("Retry-After") ?? NaN);
      throw new Unavailable(response.status, detail, Number.isFinite(after) ? after : undefined);
    }
    throw new MemorydError(response.status, detail);
  }
}

function env(name: string): string | undefined {
  const all = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  return all?.[name] || undefined;
}

function reason(e: unknown): string {
  const cause = (e as { cause?: { message?: string } }).cause?.message;
  return cause || (e instanceof Error ? e.message : String(e));
}

function parse(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

/** Finds the sentence for people in an error body. */
function sentence(answer: Json | null): string {
  const detail = answer?.detail ?? answer?.answer ?? answer?.title ?? "";
  if (!Array.isArray(detail)) return String(detail);
  return detail.map((d: { loc?: unknown[]; msg?: string }) => `${(d.loc ?? []).join(".")}: ${d.msg ?? ""}`).join("; ");
}
