// Runs the tests against the real program, built from this checkout or named by MEMORYD_TEST_BINARY.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** How many milliseconds a test waits for what comes by itself: it ends sooner, unless something is broken. */
export const patience = 120_000;

export function binary() {
  if (process.env.MEMORYD_TEST_BINARY) return process.env.MEMORYD_TEST_BINARY;
  const path = join(mkdtempSync(join(tmpdir(), "memoryd-bin-")), "memoryd");
  execFileSync("go", ["build", "-o", path, "./cmd/memoryd"], { cwd: new URL("../../..", import.meta.url) });
  return path;
}

/** Gives a free address that the system hands to nobody while a server is stopped: its own ports begin higher. */
export async function lastingAddress() {
  for (let i = 0; i < 100; i++) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    const probe = createServer();
    const free = await new Promise((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return `127.0.0.1:${port}`;
  }
  throw new Error("no free port between 15000 and 30000");
}

/** Starts memoryd; resolves to its address and a stop function. */
export async function serve({
  program = binary(),
  data = mkdtempSync(join(tmpdir(), "memoryd-")),
  listen = "127.0.0.1:0",
} = {}) {
  const child = spawn(program, ["serve", "--listen", listen, "--data", data], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(child.stdout)) {
    const found = /ready on (http:\/\/([\d.:]+))/.exec(line);
    if (!found) continue;
    const stop = () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.kill("SIGTERM");
      });
    return { url: found[1], listen: found[2], program, data, stop };
  }
  throw new Error("memoryd did not start");
}

/** Gives the calls of a tool as the server has them, oldest first. */
export async function recorded(recorder, tool) {
  if (!(await recorder.flush(patience))) throw new Error("not delivered");
  const { url, workspace } = recorder.client;
  const response = await fetch(`${url}/v1/workspaces/${workspace}/tools/${tool}/calls?limit=100`);
  const { calls } = await response.json();
  return calls.sort((a, b) => a.create_time.localeCompare(b.create_time));
}
