// Evaluates calls under other circumstances; tells results, effects, shared results and which arguments a call changed. The texts of
// `calls_program.mjs` and `watch_program.mjs` stand before this one; results go to descriptor 3, which the supervisor reads.
import os from "node:os";
import tty from "node:tty";

const [TELL, SHORT_MS, BUSY] = [3, 50, 48000];
const leave = process.exit.bind(process);
const write = writeLine;
const run = setup;
const calls = run.calls.map((call, number) => ({ ...call, number }));

standIn();
const watch = run.watched ? watching() : null;
for (const call of run.reversed ? [...calls].reverse() : calls) {
  watch?.begin(call);
  write(TELL, { number: call.number, ...(await ofCall(call)) });
  await new Promise((resolve) => setImmediate(resolve));
  watch?.look();
}
for (const call of run.shares ? calls : []) {
  if (await isShared(call)) write(TELL, { number: call.number, shared: true });
}
if (watch) write(TELL, { effects: watch.found });
const spent = process.cpuUsage();
write(TELL, { done: true, cpu_s: (spent.user + spent.system) / 1e6 });
leave(0);

/** The result of a call, the first other result when it is repeated, and the arguments that it changed. */
async function ofCall(call) {
  const { told, altered } = await once(call);
  const row = { first: told, altered };
  const until = performance.now() + SHORT_MS;
  for (let count = 2; count <= run.times && performance.now() < until; count += 1) {
    const again = (await once(call)).told;
    if (stringify(again) !== stringify(told)) return { ...row, again, count };
  }
  return row;
}

/** Evaluate a call: what it told, the arguments that it changed, and the result itself. */
async function once(call) {
  const given = {};
  call.arguments.forEach((text, number) => (given[`given_${number}`] = new Function(`return (${text});`)()));
  const before = Object.values(given).map((value) => stringify(encoded(value, 0, { left: ITEMS })));
  let value;
  const told = await answer({ source: call.filled, names: call.names }, { shape, given, keep: (one) => (value = one) });
  if (told.lost) return { told: { lost: [told.message] }, altered: [], value };
  const altered = call.arguments.filter((_, number) => stringify(encoded(given[`given_${number}`], 0, { left: ITEMS })) !== before[number]);
  return { told, altered, value };
}

/** What an object of the project's own shows of itself. */
function shape(value) {
  if (types.isDate(value)) return [Number.isNaN(value.getTime()) ? "no date" : value.toISOString()];
  try {
    return [stringify(value)?.slice(0, 2000) ?? ""];
  } catch (error) {
    return [String(error?.name)]; // it refers to itself, or says so
  }
}

/** Whether what a caller does to a result is seen by the next caller, who gives arguments of his own. */
async function isShared(call) {
  const { told, value } = await once(call);
  if (Array.isArray(value) && value.length > 0) value.length = 0;
  else if ((types.isMap(value) || types.isSet(value)) && value.size > 0) value.clear();
  else if (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length > 0 && !Object.isFrozen(value)) Object.keys(value).forEach((key) => delete value[key]);
  else return false;
  return stringify((await once(call)).told) !== stringify(told);
}

/** Put other circumstances in the place of what the machine would tell. */
function standIn() {
  process.argv = [process.execPath, run.program || "-"];
  if (run.clock_s) moveClock(run.clock_s * 1000);
  if (run.host) {
    os.hostname = () => run.host;
    os.userInfo = () => ({ uid: 1000, gid: 1000, username: run.variables.USER, homedir: run.variables.HOME, shell: "/bin/sh" });
    Object.defineProperty(process, "pid", { value: process.pid + BUSY });
  }
  for (const stream of run.terminal ? [process.stdin, process.stdout, process.stderr] : []) {
    Object.defineProperty(stream, "isTTY", { value: true, configurable: true });
  }
  if (run.terminal) tty.isatty = () => true;
  syncBuiltinESMExports();
}

function moveClock(milliseconds) {
  const Real = Date;
  const now = () => Real.now() + milliseconds;
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, made) => Reflect.construct(target, given.length > 0 ? given : [now()], made === globalThis.Date ? target : made),
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  Real.prototype.constructor = globalThis.Date;
}
