/** What only Node (and runtimes like it) has: files, sockets, processes. Elsewhere each of these is undefined. */

interface Proc {
  pid: number;
  env: Record<string, string | undefined>;
  platform: string;
  stderr?: { write(s: string): void };
  getBuiltinModule?: (name: string) => unknown;
  on?: (event: string, f: (...args: never[]) => void) => void;
  removeListener(event: string, f: () => void): void;
  listenerCount(event: string): number;
  kill(pid: number, signal: number | string): void;
}

export const proc = (globalThis as { process?: Proc }).process;

function builtin<M>(name: string): M | undefined {
  try {
    return proc?.getBuiltinModule?.(name) as M | undefined;
  } catch {
    return undefined;
  }
}

interface Files {
  existsSync(path: string): boolean;
  appendFileSync(path: string, text: string, options: { mode: number }): void;
  readFileSync(path: string, encoding: "utf8"): string;
  rmSync(path: string, options: { force: boolean }): void;
  renameSync(from: string, to: string): void;
  readdirSync(path: string): string[];
}

interface Answer {
  statusCode?: number;
  statusMessage?: string;
  headers: Record<string, string | string[] | undefined>;
  setEncoding(name: string): void;
  on(event: string, f: (part: string) => void): void;
}

interface Http {
  request(
    options: object,
    answered: (answer: Answer) => void,
  ): { on(event: string, f: (e: unknown) => void): void; end(body: string | null): void };
}

interface Processes {
  spawn(
    program: string,
    args: string[],
    options: object,
  ): { on(event: string, f: (e: unknown) => void): void; unref(): void };
}

export const fs = builtin<Files>("node:fs");
const processes = builtin<Processes>("node:child_process");
const http = builtin<Http>("node:http");

/** Gives the socket of the server that this user's programs use; "" is none. */
export function socketPath(): string {
  if (!fs || !http || !proc || proc.platform === "win32") return "";
  const { XDG_RUNTIME_DIR: runtime, XDG_CACHE_HOME: cache, HOME: home } = proc.env;
  const path = runtime?.startsWith("/")
    ? `${runtime}/memoryd/memoryd.sock`
    : `${proc.platform === "darwin" ? `${home}/Library/Caches` : cache || `${home}/.cache`}/memoryd/run/memoryd.sock`;
  return fs.existsSync(path) ? path : "";
}

let tried = false;

/** Starts a server in the background, once, where the program memoryd is installed. */
export function start(): void {
  if (tried || !processes || !proc || proc.env.MEMORYD_NO_DAEMON) return;
  tried = true;
  // The command starts the server in a session of its own and ends.
  const child = processes.spawn("memoryd", ["status", "--start"], { detached: true, stdio: "ignore" });
  child.on("error", () => {}); // it is not installed
  child.unref();
}

/** Sends a request over a socket; gives the answer and its text. */
export function overSocket(
  socketPath: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | null,
  timeout: number,
): Promise<[{ status: number; statusText: string; headers: Headers }, string]> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeout);
    const request = http!.request({ socketPath, method, path, headers, signal }, (r) => {
      let text = "";
      r.setEncoding("utf8");
      r.on("data", (part: string) => (text += part));
      r.on("error", reject);
      r.on("end", () => {
        const answered = new Headers();
        for (const [name, value] of Object.entries(r.headers)) answered.set(name, String(value));
        resolve([{ status: r.statusCode ?? 0, statusText: r.statusMessage ?? "", headers: answered }, text]);
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}
