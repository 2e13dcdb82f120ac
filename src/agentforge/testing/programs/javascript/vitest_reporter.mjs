// Reporter for vitest 1 to 4: it runs in the main process, tests run in workers.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const { openChannel, raised } = createRequire(fileURLToPath(import.meta.url))("./channel.cjs");
const STATES = { pass: "passed", fail: "failed", skip: "skipped", todo: "skipped" };

export default class Evidence {
  constructor() {
    this.send = openChannel();
    this.ended = false;
  }

  onInit(vitest) {
    this.send({ kind: "hello", runner: `vitest ${vitest.version ?? ""}`.trim() });
  }

  onTestRunEnd(modules = [], errors = []) {
    this.tell(modules.map((one) => one.task ?? one), errors);
  }

  onFinished(files = [], errors = []) {
    this.tell(files, errors);
  }

  tell(files, errors) {
    if (this.ended) return;
    this.ended = true;
    for (const file of files) this.file(file);
    for (const error of errors) this.send({ kind: "problem", text: `an error outside of the tests: ${raised(error).message}` });
    this.send({ kind: "finished" });
  }

  file(file) {
    const own = file.result?.errors ?? [];
    if (own.length > 0) this.send({ kind: "broken", file: file.filepath, error: raised(own[0]), results: count(file) });
    for (const task of file.tasks ?? []) this.task(task, file, []);
  }

  task(task, file, titles) {
    const path = [...titles, task.name];
    if (task.type === "suite") {
      for (const inner of task.tasks ?? []) this.task(inner, file, path);
      const own = task.result?.errors ?? [];
      if (own.length > 0) this.result(file, path, "error", task, own[0]);
      return;
    }
    const state = task.result?.state ?? task.mode;
    const retried = (task.result?.retryCount ?? 0) > 0;
    const outcome = STATES[state] ?? "error";
    this.result(file, path, outcome === "passed" && (retried || task.fails) ? "xpassed" : outcome, task, task.result?.errors?.[0]);
  }

  result(file, titles, outcome, task, error) {
    const duration = (task.result?.duration ?? 0) / 1000;
    const failed = outcome === "failed" || outcome === "error";
    this.send({ kind: "result", file: file.filepath, titles, outcome, duration, error: failed ? raised(error ?? null) : null });
  }
}

function count(task) {
  return task.tasks ? task.tasks.reduce((sum, inner) => sum + count(inner), 0) : 1;
}
