// Reporter for jest: it runs in the main process, tests run in a context of their own, with several files in workers.
"use strict";

const { openChannel, raised, cut } = require("./channel.cjs");
const LINGERS_MS = 2000;
const STATES = { passed: "passed", failed: "failed" };

module.exports = class Evidence {
  constructor() {
    this.send = openChannel();
    process.argv.splice(2); // jest has read its words; tests in this process see none, as in a worker
    this.send({ kind: "hello", runner: "jest" });
  }

  onTestResult(_test, found) {
    const file = found.testFilePath;
    if (found.testExecError) {
      this.send({ kind: "broken", file, error: raised(found.testExecError), text: cut(found.failureMessage ?? ""), results: found.testResults.length });
    }
    for (const one of found.testResults) {
      const outcome = STATES[one.status] ?? "skipped";
      this.send({
        kind: "result",
        file,
        titles: [...one.ancestorTitles, one.title],
        outcome: outcome === "passed" && (one.invocations ?? 1) > 1 ? "xpassed" : outcome,
        duration: (one.duration ?? 0) / 1000,
        error: outcome === "failed" ? failure(one) : null,
      });
    }
  }

  onRunComplete(_contexts, results) {
    if (results.runExecError) this.send({ kind: "problem", text: cut(results.runExecError.message ?? "jest could not run") });
    this.send({ kind: "finished" });
    // Timers and sockets that tests left open keep jest alive for ever; all results are told by now, and jest ends by itself in a second.
    setTimeout(() => process.exit(process.exitCode || 1), LINGERS_MS).unref();
  }

  getLastError() {}
};

function failure(one) {
  const detail = (one.failureDetails ?? [])[0];
  const text = plain((one.failureMessages ?? [])[0] ?? "");
  const error = detail && typeof detail === "object" ? detail.error ?? detail : {};
  const told = raised(error);
  const known = told.stack !== "";
  return {
    ...told,
    name: known ? told.name : text.split(":", 1)[0] || "Error",
    message: cut(plain(known ? told.message : text)),
    stack: known ? told.stack : cut(text),
    assertion: told.assertion || /^(Error: )?expect\(/.test(text),
  };
}

function plain(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}
