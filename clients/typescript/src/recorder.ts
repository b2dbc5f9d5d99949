/** Sends calls in the background: recording never delays and never breaks the program that records. */

import { type Call, Client, MemorydError, Unavailable } from "./client.js";
import { mask } from "./mask.js";
import { fs, proc } from "./node.js";

const BATCH_CALLS = 100;
const BATCH_CHARS = 4 << 20;

export interface RecorderOptions {
  client?: Client;
  /** Calls that may wait; what comes while the queue is full is dropped and counted. 10,000. */
  maxCalls?: number;
  /** Characters that may wait; 64 Mi. */
  maxChars?: number;
  /** Milliseconds that a call waits for company; 500. */
  interval?: number;
  /**
   * Path of a file beside which each call stands on disk until it was delivered, also when the program is killed; it is
   * delivered later, once, to the server, workspace and key that it was for. Secrets of known forms are left out. Where
   * the runtime has no files (a browser) nothing is kept. "memoryd journals" sends or drops such files.
   */
  journal?: string;
  /** Is told, once per change, that memoryd is away or back, and of calls it refused; nothing by default. */
  log?: (message: string) => void;
}

/** Counts what became of calls: recorded by the server, dropped for want of room, rejected by the server, left on disk. */
export interface RecorderStats {
  journaled: number;
  recorded: number;
  dropped: number;
  rejected: number;
  waiting: number;
}

/**
 * Takes calls without waiting and sends them in batches. A batch that could not be sent is tried again until there is
 * no room; every call carries an id and a time, by which the server recognises one that it has.
 *
 * Where the runtime tells of its end (Node, Bun, Deno), a program that comes to its end, or to SIGTERM that it does not
 * handle itself, sends what waits, for two seconds at most; what is not delivered then, or when the program exits at
 * once, stays in the journal, or is counted in one line on standard error. Elsewhere call flush() before the program
 * ends.
 */
export class Recorder {
  readonly client: Client;
  private readonly options: Required<Omit<RecorderOptions, "client" | "journal">>;
  private readonly beside: string; // begins the names of its journals
  private readonly journal: string; // "": none
  private behind = false; // the journal holds calls that do not wait in memory
  private queue: Waiting[] = [];
  private chars = 0;
  private counts = { recorded: 0, dropped: 0, rejected: 0, journaled: 0 };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sending: Promise<void> | undefined;
  private pause = 0;
  private underWay: Waiting[] = [];
  private away = false;
  private lost = 0; // refused or dropped, as the last flush knew
  private ended = false;

  constructor({
    client,
    maxCalls = 10_000,
    maxChars = 64 << 20,
    interval = 500,
    journal,
    log = () => {},
  }: RecorderOptions = {}) {
    this.client = client ?? new Client({ timeout: 10_000 });
    this.options = { maxCalls, maxChars, interval, log };
    const { url, workspace, keyId } = this.client;
    this.beside =
      journal && fs ? `${journal}.${hash(JSON.stringify([this.client.local || url, workspace, keyId]))}.` : "";
    this.journal = this.beside && `${this.beside}${proc!.pid}-${crypto.randomUUID().slice(0, 8)}`;
    if (this.journal) live.add(this.journal);
  }

  /** Queues a call. Never waits and never throws. */
  record(call: Call): void {
    try {
      const id = crypto.randomUUID();
      const own = call.metadata?.tool_call_id ? {} : { tool_call_id: id, call_ref: `client/${id}` };
      const metadata = { sources: ["client:typescript"], ...own, ...call.metadata };
      const whole = { ...call, create_time: call.create_time ?? new Date().toISOString(), metadata };
      const json = JSON.stringify(whole);
      if (
        this.queue.length + this.underWay.length >= this.options.maxCalls ||
        this.chars + json.length > this.options.maxChars
      ) {
        this.counts.dropped++;
        return;
      }
      const copy = JSON.parse(json) as Call;
      this.queue.push({ json, call: copy, kept: this.keep(copy) });
      this.chars += json.length;
      waiting.add(this);
      watchTheEnd();
      this.schedule(this.queue.length >= BATCH_CALLS && !this.pause ? 0 : this.pause || this.options.interval);
    } catch {
      this.counts.dropped++;
    }
  }

  /**
   * Waits, milliseconds at most, until everything queued was delivered; tells whether it was: false also where the
   * server refused a call since the flush before, or one was dropped for want of room (stats() has the counts).
   */
  async flush(timeout = 5_000): Promise<boolean> {
    const end = Date.now() + timeout;
    while (this.queue.length || this.sending) {
      if (!this.pause) this.schedule(0);
      const left = end - Date.now();
      if (left <= 0) return false;
      await sleep(Math.min(left, 10));
    }
    const lost = this.counts.rejected + this.counts.dropped;
    const delivered = lost === this.lost;
    this.lost = lost;
    return delivered;
  }

  /** Sends what waits when the program comes to its end, once. */
  async end(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    const told = this.lost;
    await this.flush(2_000);
    this.lost = told; // nobody looked at what that flush told
  }

  /** Gives how many calls were not delivered, or may not have been, and were not told by a flush. */
  undelivered(): number {
    const open = [...this.queue, ...this.underWay].filter((w) => !w.kept).length;
    return open + this.counts.rejected + this.counts.dropped - this.lost;
  }

  /** Gives how many of these were sent and not answered: the server may have them. */
  unanswered(): number {
    return this.underWay.filter((w) => !w.kept).length;
  }

  /** Appends a call to the journal; tells whether it did. */
  private keep(call: Call): boolean {
    if (!this.journal) return false;
    try {
      const { url, workspace, keyId, local } = this.client;
      const head = { memoryd_journal: { to: local ? "local" : url, workspace, key: keyId } };
      const lines = (fs!.existsSync(this.journal) ? [] : [head]).concat(mask(call) as never);
      fs!.appendFileSync(this.journal, lines.map((line) => JSON.stringify(line) + "\n").join(""), { mode: 0o600 });
      return true;
    } catch (e) {
      this.options.log(`journal ${this.journal}: ${String(e)}`);
      return false;
    }
  }

  /** Delivers what the journal holds and memory does not, then the journals of programs that are gone. */
  private async replay(): Promise<void> {
    if (!this.journal) return;
    const sending = `${this.journal}.sending`;
    if (this.behind && fs!.existsSync(this.journal)) fs!.renameSync(this.journal, sending);
    const at = this.beside.lastIndexOf("/") + 1;
    for (const name of fs!.readdirSync(this.beside.slice(0, at) || ".")) {
      const path = this.beside.slice(0, at) + name;
      if (!path.startsWith(this.beside) || (path !== sending && !gone(path, this.beside))) continue;
      const calls = fs!.readFileSync(path, "utf8").split("\n").flatMap(callOf);
      for (let i = 0; i < calls.length; i += BATCH_CALLS) await this.send(calls.slice(i, i + BATCH_CALLS));
      fs!.rmSync(path, { force: true });
    }
    this.behind = false;
  }

  stats(): RecorderStats {
    return { ...this.counts, waiting: this.queue.length };
  }

  private schedule(delay: number): void {
    if (this.sending || (this.timer && delay > 0)) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.sending = this.drain().finally(() => {
        this.sending = undefined;
        if (this.queue.length) this.schedule(this.pause || this.options.interval);
        else if (!this.undelivered()) waiting.delete(this);
      });
    }, delay);
    // A waiting timer must not keep the program from ending.
    (this.timer as { unref?: () => void }).unref?.();
  }

  private async drain(): Promise<void> {
    while (this.queue.length) {
      const batch = this.take();
      this.underWay = batch;
      try {
        await this.send(batch.map((b) => b.call));
        this.pause = 0;
        if (this.away) this.options.log("memoryd is back");
        this.away = false;
      } catch (e) {
        if (!(e instanceof Unavailable)) throw e;
        // What stands in the journal is delivered from there.
        const open = batch.filter((b) => !b.kept);
        this.behind ||= open.length < batch.length;
        this.counts.journaled += batch.length - open.length;
        this.queue.unshift(...open);
        this.chars += open.reduce((n, b) => n + b.json.length, 0);
        this.pause = Math.max((e.retryAfter ?? 0) * 1000, Math.min(30_000, this.pause * 2 || 250));
        if (!this.away) this.options.log(`memoryd is unreachable; calls wait: ${e.message}`);
        this.away = true;
        return;
      } finally {
        this.underWay = [];
      }
    }
    try {
      await this.replay();
    } catch (e) {
      this.options.log(`journal ${this.journal}: ${String(e)}`);
      return;
    }
    if (this.journal && !this.queue.length && !this.behind) fs!.rmSync(this.journal, { force: true });
  }

  private take() {
    let n = 0;
    let size = 0;
    for (const b of this.queue) {
      if (n === BATCH_CALLS || (n > 0 && size + b.json.length > BATCH_CHARS)) break;
      size += b.json.length;
      n++;
    }
    this.chars -= size;
    return this.queue.splice(0, n);
  }

  private async send(batch: Call[]): Promise<void> {
    try {
      const { rejected } = await this.client.record(batch);
      this.counts.recorded += batch.length - rejected.length;
      this.refused(rejected.length, rejected[0]?.reason);
    } catch (e) {
      if (!(e instanceof MemorydError) || e instanceof Unavailable) throw e;
      if ((e.status === 413 || e.status === 422) && batch.length > 1) {
        await this.send(batch.slice(0, batch.length / 2));
        await this.send(batch.slice(batch.length / 2));
      } else {
        this.refused(batch.length, e.message);
      }
    }
  }

  private refused(n: number, why = ""): void {
    this.counts.rejected += n;
    if (n) this.options.log(`${n} call(s) were refused: ${why}`);
  }
}

interface Waiting {
  json: string;
  call: Call;
  kept: boolean; // it stands in the journal
}

/** The journals of this program's recorders. */
const live = new Set<string>();

/** Tells whether the program that wrote a journal is gone. */
function gone(path: string, beside: string): boolean {
  const journal = path.replace(/\.sending$/, "");
  if (live.has(journal)) return false;
  const pid = Number(journal.slice(beside.length).split("-")[0]);
  if (pid === proc!.pid) return true;
  try {
    proc!.kill(pid, 0);
    return false;
  } catch (e) {
    return (e as { code?: string }).code === "ESRCH";
  }
}

/** Reads a line of a journal: a call; not its head, and not what a crash cut. */
function callOf(line: string): Call[] {
  try {
    const value = JSON.parse(line) as Call & { memoryd_journal?: unknown };
    return value.memoryd_journal ? [] : [value];
  } catch {
    return [];
  }
}

/** Gives a short name for a text (FNV-1a, twice). */
function hash(text: string): string {
  let name = "";
  for (let seed = 0; seed < 2; seed++) {
    let h = 0x811c9dc5 ^ seed;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    name += (h >>> 0).toString(16).padStart(8, "0");
  }
  return name;
}

/** The recorders that hold calls. */
const waiting = new Set<Recorder>();

let watched = false;

/** Asks the runtime, once, to be told of its end. */
function watchTheEnd(): void {
  if (watched) return;
  watched = true;
  proc?.on?.("beforeExit", () => {
    for (const r of waiting) void r.end();
  });
  const terminate = () => {
    if (proc!.listenerCount("SIGTERM") > 1) return; // the program ends itself in its own way
    void Promise.all([...waiting].map((r) => r.end())).then(() => {
      count();
      proc!.removeListener("SIGTERM", terminate);
      proc!.kill(proc!.pid, "SIGTERM");
    });
  };
  proc?.on?.("SIGTERM", terminate);
  const count = () => {
    for (const r of waiting) {
      const [n, sent] = [r.undelivered(), r.unanswered()];
      const maybe = sent ? `: ${sent} of them were sent, and memoryd did not answer in time` : "";
      if (n) proc?.stderr?.write(`memoryd: ${n} call(s) were not delivered to ${r.client.url}${maybe}\n`);
    }
  };
  proc?.on?.("exit", count);
}

let standard: Recorder | undefined;

/** Gives the recorder that is used where none is named; it is made from the environment at its first use. */
export function defaultRecorder(): Recorder {
  return (standard ??= new Recorder());
}

/** Makes a recorder the one that is used where none is named. */
export function configure(recorder: Recorder): void {
  standard = recorder;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
