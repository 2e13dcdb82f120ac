// Starts a node process for each run, with its own folder, variables and files, and passes on what it told. Started as
// `node --input-type=module -`, with a line of instructions before this text; it imports nothing of the project.
import { spawnSync } from "node:child_process";
import { renameSync, writeSync } from "node:fs";
import { join } from "node:path";

const { descriptor, nonce, root, runs, source, within_s } = globalThis.__setup;
const until = performance.now() + within_s * 1000;

for (const [number, run] of runs.entries()) {
  const left = until - performance.now();
  if (left <= 0) break;
  const hidden = run.without.map((path) => [join(root, path), `${join(root, path)}.away`]);
  for (const [path, away] of hidden) renameSync(path, away);
  const record = { run: number, ...carriedOut(run, Math.min(run.timeout_s * 1000, left)), nonce };
  for (const [path, away] of hidden) renameSync(away, path);
  let rest = Buffer.from(`${JSON.stringify(record)}\n`, "utf8");
  while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
}
process.exit(0);

/** One process for one run: its rows, how it ended, its processor seconds. */
function carriedOut(run, timeout) {
  const env = { ...(run.bare ? {} : process.env), ...run.variables };
  const input = `globalThis.__setup = ${JSON.stringify({ ...run, root })};\n${source}`;
  const options = { cwd: run.folder || root, env, input, timeout, killSignal: "SIGKILL", maxBuffer: 32e6, stdio: ["pipe", "ignore", "ignore", "pipe"] };
  const done = spawnSync(process.execPath, ["--input-type=module", "-"], options);
  const rows = String(done.output?.[3] ?? "").split("\n").flatMap(parsed);
  const last = rows.at(-1);
  if (last?.done !== true) return { rows, ended: done.error?.code === "ETIMEDOUT" ? "timed out" : "ended early", cpu_s: 0 };
  return { rows: rows.slice(0, -1), ended: "done", cpu_s: last.cpu_s };
}

/** The record of a line; nothing for one that was cut when the process ended. */
function parsed(line) {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
