// Reporter for `node --test`: it runs in the parent process, which loads no file of the project.
import { createRequire } from "node:module";

const { openChannel, raised, cut } = createRequire(import.meta.url)("./channel.cjs");
const send = openChannel();

export default async function* report(source) {
  const titles = new Map(); // file -> titles of the open tests, by nesting
  const said = new Map(); // file -> what it wrote to stderr
  const told = new Map(); // file -> number of its results
  send({ kind: "hello", runner: `node ${process.version}` });
  for await (const { type, data } of source) {
    const file = data?.file ?? "";
    if (type === "test:stderr") said.set(file, cut((said.get(file) ?? "") + data.message));
    if (type === "test:start") titles.set(file, [...(titles.get(file) ?? []).slice(0, data.nesting), data.name]);
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (!isResult(type, data)) continue;
    const record = result(type, data, titles.get(file) ?? []);
    const whole = data.nesting === 0 && (data.name === file || file.endsWith(`/${data.name}`) || data.name.endsWith(".js"));
    if (whole && type === "test:fail") {
      send({ kind: "broken", file: file || data.name, text: said.get(file) ?? "", results: told.get(file) ?? 0 });
    } else {
      if (whole) record.titles = [data.name.split("/").pop()]; // a script without tests: its exit code is all there is
      told.set(file, (told.get(file) ?? 0) + 1);
      send(record);
    }
    yield `${record.outcome.toUpperCase()} ${record.titles.join(" > ")}\n`;
  }
  send({ kind: "finished" });
}

/** A suite is no test; one that broke by itself (a hook, its body) is told all the same. */
function isResult(type, data) {
  if (data.details?.type !== "suite") return true;
  const why = data.details?.error?.failureType;
  return type === "test:fail" && why !== "subtestsFailed" && why !== undefined;
}

function result(type, data, open) {
  const outcome = data.skip !== undefined ? "skipped" : data.todo !== undefined ? "xfailed" : type === "test:pass" ? "passed" : "failed";
  return {
    kind: "result",
    file: data.file ?? "",
    titles: [...open.slice(0, data.nesting), data.name],
    outcome,
    duration: (data.details?.duration_ms ?? 0) / 1000,
    error: outcome === "failed" ? raised(data.details?.error) : null,
  };
}
