// What becomes of calls that wait when a program ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Client, Recorder } from "../dist/index.js";
import { patience, serve } from "./server.mjs";

let server;
before(async () => void (server = await serve()));
after(() => server.stop());

/** Runs a program that records 50 calls and then ends as it is told; gives what it said and its exit code. */
function ended(url, workspace, end) {
  const program = `
    import { Client, Recorder } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
    const recorder = new Recorder({ client: new Client({ url: "${url}", workspace: "${workspace}" }) });
    for (let i = 0; i < 50; i++) recorder.record({ tool_name: "t", input: { i }, output: "ok" });
    ${end}`;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { timeout: patience });
    let said = "";
    child.stderr.on("data", (text) => (said += text));
    child.on("close", (code) => resolve({ said, code }));
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
