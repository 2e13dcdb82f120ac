// Reporter for mocha: loaded before the test files, but in their process.
"use strict";

const { openChannel, raised } = require("./channel.cjs");
const send = openChannel();
send({ kind: "hello", runner: "mocha" });

module.exports = class Evidence {
  constructor(runner) {
    runner.on("start", () => send({ kind: "started" }));
    runner.on("pass", (test) => tell(test, test.currentRetry?.() > 0 ? "xpassed" : "passed"));
    runner.on("pending", (test) => tell(test, "skipped"));
    runner.on("fail", (test, error) => tell(test, test.type === "hook" ? "error" : "failed", error));
    runner.on("end", () => send({ kind: "finished" }));
  }
};

function tell(test, outcome, error) {
  const file = test.file ?? test.parent?.file ?? "";
  send({
    kind: "result",
    file,
    titles: test.titlePath(),
    outcome,
    duration: (test.duration ?? 0) / 1000,
    error: error === undefined ? null : raised(error),
  });
}
