// Notices what calls do beside giving a result: functions of node that reach out, and the state of the process before and after. The
// text of `calls_program.mjs` stands before this one.
import childProcess from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import https from "node:https";
import net from "node:net";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";

const MOST = 200;
const REACHING = [
  [childProcess, ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"], "process"],
  [net.Socket.prototype, ["connect"], "network"],
  [net.Server.prototype, ["listen"], "network"],
  [dgram.Socket.prototype, ["bind", "send", "connect"], "network"],
  [dns, ["lookup", "resolve", "resolve4", "resolve6"], "network"],
  [process, ["kill", "chdir", "exit", "abort", "setuid", "setgid", "umask"], "process"],
];
const WRITING = ["writeFile", "appendFile", "rm", "rmdir", "unlink", "rename", "mkdir", "truncate", "chmod", "symlink", "link", "copyFile"];
const READING = ["readFile", "exists", "stat", "readdir", "access"];

/** Begin to watch; `begin` tells which call comes, `look` compares the state, `found` holds [number, kind, detail]. */
function watching() {
  const found = [];
  let [number, source] = [-1, ""];
  const add = (kind, detail) => {
    const row = [number, kind, cut(detail).slice(0, 120)];
    const known = found.some((one) => stringify(one) === stringify(row));
    if (number >= 0 && found.length < MOST && !known) found.push(row);
  };
  const ofFile = (kind, name, path) => {
    const text = path instanceof URL ? path.pathname : typeof path === "string" || Buffer.isBuffer(path) ? String(path) : "";
    if (!text || source.includes(text) || text.includes("/node_modules/")) return;
    const near = !text.startsWith("/") || text.startsWith(`${root}/`);
    const code = /\.([mc]?[jt]sx?|node)$|package\.json$/.test(text) || text.includes(`.${word}.`);
    if (kind === "reads") return near && !code ? add(kind, text.replace(`${root}/`, "")) : undefined;
    if (!text.startsWith(tmpdir()) && text !== "/dev/null" && !text.includes(`.${word}.`)) add("file", `${name} ${text}`);
  };
  for (const [owner, names, kind] of REACHING) for (const name of names) listen(owner, name, (given) => add(kind, `${name} ${typeof given[0] === "object" ? stringify(given[0]) : given[0]}`));
  for (const owner of [fs, fs.promises]) {
    for (const name of WRITING.flatMap((one) => [one, `${one}Sync`])) listen(owner, name, (given) => ofFile("file", name, given[0]));
    for (const name of READING.flatMap((one) => [one, `${one}Sync`])) listen(owner, name, (given) => ofFile("reads", name, given[0]));
    for (const name of ["open", "openSync", "createWriteStream"]) listen(owner, name, (given) => (name === "createWriteStream" || /[wa+]/.test(String(given[1] ?? "r")) ? ofFile("file", name, given[0]) : undefined));
  }
  syncBuiltinESMExports();
  let before = state();
  return {
    found,
    begin: (call) => ([number, source] = [call.number, call.source]),
    look: () => {
      const now = state();
      for (const [kind, value] of Object.entries(now)) if (value !== before[kind]) add(kind, "changed");
      before = now;
    },
  };
}

/** Put a function in the place of one of node's that tells its arguments and does the same. */
function listen(owner, name, tell) {
  const original = owner[name];
  if (typeof original !== "function") return;
  const heard = function (...given) {
    try {
      tell(given);
    } catch {
      // what the project hands over may not be shown; the call goes on
    }
    return new.target ? Reflect.construct(original, given) : Reflect.apply(original, this, given);
  };
  Object.defineProperties(heard, Object.getOwnPropertyDescriptors(original));
  owner[name] = heard;
}

/** What a call may leave changed in its process. */
function state() {
  const own = (value) => Object.getOwnPropertyNames(value).length;
  const resources = process.getActiveResourcesInfo();
  return {
    environment: stringify(process.env),
    folder: process.cwd(),
    listeners: stringify(process.eventNames().map((one) => [String(one), process.listenerCount(one)])),
    timers: resources.filter((one) => one === "Timeout").length,
    globals: own(globalThis),
    prototypes: [Object, Array, String, Number, Function, Promise, Map, Set].map((one) => own(one.prototype)).join(),
    clock: [Date, Date.now, Math.random, globalThis.setTimeout].map(identity).join(),
    logging: [console.log, console.error, console.warn].map(identity).join(),
    TLS: https.globalAgent.options.rejectUnauthorized === false,
  };
}

const known = new Map();

/** A number that stands for one object. */
function identity(value) {
  if (!known.has(value)) known.set(value, known.size);
  return known.get(value);
}
