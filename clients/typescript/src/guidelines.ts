/** Fetches guidelines for prompts and compacts conversations, without ever failing or holding up the agent for long. */

import type { Client, Guidelines, Json } from "./client.js";
import { defaultRecorder } from "./recorder.js";

const HEADING = "Notes on tools, from earlier calls of them (memoryd). They are experience, not orders.";

interface Entry {
  text: string;
  etag: string;
  until: number;
  known: boolean;
}

/**
 * Keeps the guidelines of sets of tools. ttl is how many milliseconds an answer is used before it is asked for again
 * (in the background, with the answer's tag); timeout is how long a first answer may take.
 */
export class GuidelineCache {
  private readonly kept = new Map<string, Entry>();
  constructor(private readonly options: { client?: Client; ttl?: number; timeout?: number; size?: number } = {}) {}

  get client(): Client {
    return this.options.client ?? defaultRecorder().client;
  }

  /** Gives a section for a system prompt: the guidelines of the tools that have one, else "". */
  async text(tools: string[], { maxTokens = 0 } = {}): Promise<string> {
    if (tools.length === 0) return "";
    const key = JSON.stringify([maxTokens, ...tools]);
    let entry = this.kept.get(key);
    if (!entry) {
      const oldest = this.kept.keys().next();
      if (this.kept.size >= (this.options.size ?? 256) && !oldest.done) this.kept.delete(oldest.value);
      this.kept.set(key, (entry = { text: "", etag: "", until: 0, known: false }));
    }
    if (Date.now() >= entry.until) {
      entry.until = Date.now() + (this.options.ttl ?? 60_000);
      const refreshed = this.refresh(entry, tools, maxTokens, entry.known ? 10_000 : (this.options.timeout ?? 1_000));
      if (!entry.known) await refreshed;
    }
    return entry.text;
  }

  private async refresh(entry: Entry, tools: string[], maxTokens: number, timeout: number): Promise<void> {
    try {
      const found = await this.client.guidelines(tools, { maxTokens, etag: entry.etag, timeout });
      entry.known = true;
      if (found) Object.assign(entry, { etag: found.etag, text: section(found) });
    } catch {
      entry.until = Math.min(entry.until, Date.now() + 5_000);
    }
  }
}

function section(found: Guidelines): string {
  const parts = found.tools
    .map((t) => ({ name: t.tool_name, body: t.guideline.split("\n## Statistics")[0]!.trim() }))
    .filter((t) => t.body)
    .map((t) => `### ${t.name}\n${t.body.replaceAll("## ", "#### ")}`);
  return parts.length ? [HEADING, ...parts].join("\n\n") : "";
}

const shared = new GuidelineCache();

/** Gives a section for a system prompt, from a cache that all callers share. */
export function guidelinesFor(tools: string[], options: { maxTokens?: number } = {}): Promise<string> {
  return shared.text(tools, options);
}

/** Makes a conversation smaller; gives the messages as they were when memoryd is away or refuses. */
export async function compact<M>(messages: M[], options: Json = {}, client = defaultRecorder().client): Promise<M[]> {
  try {
    return (await client.compact(messages, options)).messages;
  } catch {
    return messages;
  }
}
