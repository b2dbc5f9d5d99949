// What becomes of calls that wait when a program ends.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client, Recorder } from "../dist/index.js";
import { patience, serve } from "./server.mjs";

let server;
before(async () => void (server = await serve()));
after(() => server.stop());

/** Runs a program that records 50 calls and then ends as it is told; gives what it said and its exit code. */
function ended(url, workspace, end, journal) {
  const program = `
    import { Client, Recorder } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
    const recorder = new Recorder({ client: new Client({ url: "${url}", workspace: "${workspace}" }), interval: 20, journal: ${JSON.stringify(journal)} });
    for (let i = 0; i < 50; i++) recorder.record({ tool_name: "t", input: { i }, output: "ok" });
    ${end}`;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { timeout: patience });
    let said = "";
    child.stderr.on("data", (text) => (said += text));
    child.on("close", (code, signal) => resolve({ said, code: code ?? signal }));
  });
}

async function count(workspace) {
  const found = await new Client({ url: server.url, workspace }).guidelines(["t"]);
  return found.tools[0]?.statistics.lifetime_calls ?? 0;
}

test("what waits when a program ends normally is delivered", async () => {
  const { said, code } = await ended(server.url, "normal", "");
  assert.deepEqual([await count("normal"), said, code], [50, "", 0]);
});

for (const [name, end, want] of [
  ["process.exit", "process.exit(3)", 3],
  ["an uncaught throw", 'throw new Error("mine")', 1],
]) {
  test(`what waits at ${name} is delivered or counted in one line`, async () => {
    const { said, code } = await ended(server.url, `end${want}`, end);
    const lines = said.match(/^memoryd: (\d+) call\(s\) were not delivered to /gm) ?? [];
    assert.equal(code, want);
    assert.equal(lines.length, 1, said);
    assert.equal(Number(/\d+/.exec(lines[0])[0]) + (await count(`end${want}`)), 50);
  });
}

test("a program ends soon and says what is lost when memoryd is away", async () => {
  const { said, code } = await ended("http://127.0.0.1:1", "away", "");
  assert.deepEqual([said, code], ["memoryd: 50 call(s) were not delivered to http://127.0.0.1:1\n", 0]);
});

test("a flush tells refusals, and the end of a program too", async () => {
  const refusing = createServer((_, response) => response.writeHead(401).end('{"detail":"no key"}'));
  await new Promise((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${refusing.address().port}`;
  const recorder = new Recorder({ client: new Client({ url }), interval: 10 });
  recorder.record({ tool_name: "t", output: "ok" });
  assert.equal(await recorder.flush(patience), false);
  assert.equal(recorder.stats().rejected, 1);
  assert.equal(await recorder.flush(patience), true); // it was told
  const { said } = await ended(url, "w", "");
  assert.equal(said, `memoryd: 50 call(s) were not delivered to ${url}\n`);
  refusing.closeAllConnections();
  refusing.close();
});

const ends = {
  normal: ["", 0],
  "process.exit": ["process.exit(3)", 3],
  "an uncaught throw": ['throw new Error("mine")', 1],
  SIGTERM: ['process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 60000)', "SIGTERM"],
  SIGKILL: ['process.kill(process.pid, "SIGKILL")', "SIGKILL"],
};

// Most of the time a program waits for a server that hangs: they wait beside each other.
describe("no call is unaccounted for", { concurrency: 8 }, () => {
  for (const [name, [end, want]] of Object.entries(ends))
    for (const state of ["up", "down", "refusing", "hanging"])
      for (const kept of [true, false]) {
        if (name === "SIGKILL" && !kept) continue; // nothing can be said then
        test(`${name}, server ${state}, ${kept ? "journal" : "no journal"}`, async () => {
          const odd = createServer((request, response) => {
            if (state === "refusing") request.resume().on("end", () => response.writeHead(401).end("{}"));
          });
          await new Promise((resolve) => odd.listen(0, "127.0.0.1", resolve));
          const url = { up: server.url, down: "http://127.0.0.1:1" }[state] ?? `http://127.0.0.1:${odd.address().port}`;
          const workspace = `ends-${name}-${kept}`.replaceAll(/\W/g, "-");
          const folder = mkdtempSync(join(tmpdir(), "memoryd-journal-"));
          const { said, code } = await ended(url, workspace, end, kept ? join(folder, "calls.jsonl") : undefined);
          assert.equal(code, want, said);
          const files = readdirSync(folder).map((file) => join(folder, file));
          for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600);
          const calls = files.flatMap((file) => readFileSync(file, "utf8").match(/"tool_name"/g) ?? []).length;
          const delivered = state === "up" ? await count(workspace) : 0;
          const counted = Number(/(\d+) call\(s\) were not delivered/.exec(said)?.[1] ?? 0);
          const sum = delivered + calls + counted;
          const unanswered = Number(/(\d+) of them were sent/.exec(said)?.[1] ?? 0);
          // What was under way at the end may have arrived, and is recognised when it comes again from a journal.
          assert.ok(
            sum >= 50 && (sum <= 50 + unanswered || (kept && state === "up") || name === "SIGKILL"),
            `${delivered} + ${calls} + ${counted}: ${said}`,
          );
          odd.closeAllConnections();
          odd.close();
        });
      }
});

test("a journal is delivered by the next program, once, to whom it was for, without secrets", async () => {
  const journal = join(mkdtempSync(join(tmpdir(), "memoryd-journal-")), "calls.jsonl");
  const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
  const leave = `recorder.record({ tool_name: "t", input: { api_key: "hunter2hunter2" }, output: "token ${secret}" }); process.exit(0)`;
  await ended(server.url, "journal", leave, journal);
  await ended("http://127.0.0.1:1", "theirs", "process.exit(0)", journal);
  const folder = join(journal, "..");
  const text = () => readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  assert.equal(text().length, 2);
  assert.ok(!text().some((t) => t.includes(secret) || t.includes("hunter2hunter2")));
  const recorder = new Recorder({
    client: new Client({ url: server.url, workspace: "journal" }),
    interval: 10,
    journal,
  });
  recorder.record({ tool_name: "t", output: "last" });
  assert.equal(await recorder.flush(patience), true);
  assert.equal(await count("journal"), 52);
  assert.ok(text().length === 1 && text()[0].includes('"workspace":"theirs"'));
});

test("where no server runs, the installed program starts one, and the calls are recorded", async () => {
  const home = mkdtempSync(join(tmpdir(), "md-"));
  mkdirSync(join(home, "bin"));
  mkdirSync(join(home, "run"), { mode: 0o700 });
  symlinkSync(server.program, join(home, "bin", "memoryd"));
  const env = { HOME: home, XDG_RUNTIME_DIR: join(home, "run"), PATH: `${join(home, "bin")}:${process.env.PATH}` };
  const program = `
    import { Client, Recorder } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
    const recorder = new Recorder({ client: new Client(), interval: 20 });
    for (let i = 0; i < 50; i++) recorder.record({ tool_name: "t", input: { i }, output: "ok" });
    const done = await recorder.flush(${patience});
    console.log(JSON.stringify([done, recorder.stats().recorded]));`;
  const run = (more) =>
    execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      env: { ...env, ...more },
      encoding: "utf8",
      stdio: "pipe",
      timeout: patience,
    });
  try {
    assert.equal(run().trim(), "[true,50]");
    const { servers } = JSON.parse(execFileSync(server.program, ["status", "--json"], { env, encoding: "utf8" }));
    assert.deepEqual(
      servers.map((s) => s.background),
      [true],
    );
  } finally {
    execFileSync(server.program, ["stop"], { env });
  }
});
