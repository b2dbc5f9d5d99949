// Builds dist when the package is installed from this folder, also where its development dependencies are not installed:
// the types of frameworks are then unknown, which stops nothing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const tsc = ["tsc", "-p", "tsconfig.build.json"];
const installed = existsSync(new URL("node_modules/typescript", import.meta.url));
const command = installed ? tsc : ["--yes", "--package=typescript", ...tsc];
const { status } = spawnSync("npx", command, {
  cwd: new URL(".", import.meta.url),
  stdio: installed ? "inherit" : "ignore",
});
if (status !== 0 && (installed || !existsSync(new URL("dist/index.js", import.meta.url)))) process.exit(status ?? 1);
