// Runs one library for libraries.py: evaluates what stands on each line of its input below the first, and prints, line by
// line, what came of it: whether it failed, a text, and the name of an exception.
const { inspect } = require("node:util");

globalThis.require = require;
const evaluate = eval; // of the global scope

function text(value) {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? inspect(value);
  } catch {
    return inspect(value);
  }
}

async function outcome(line) {
  try {
    const value = await evaluate(line);
    if (value?.statusCode && "payload" in value) return [value.statusCode >= 400, value.payload, ""];
    return [value?.constructor === Object && Array.isArray(value.errors), text(value), ""];
  } catch (e) {
    return [true, e?.message ?? text(e), e?.name ?? "Error"];
  }
}

(async () => {
  const [, setup, ...lines] = require("node:fs").readFileSync(0, "utf8").trimEnd().split("\n");
  await evaluate(setup);
  const rows = [];
  for (const line of lines) rows.push(await outcome(line));
  process.stdout.write("\n" + JSON.stringify(rows) + "\n", () => process.exit(0));
})();
