// Evaluates calls in a plain process. Started as `node --input-type=module -`, with a line of instructions and the text of
// `calls_program.mjs` before this one.
const { descriptor, nonce, calls } = setup;

for (const [number, call] of calls.entries()) writeLine(descriptor, { number, ...(await answer(call)), nonce });
writeLine(descriptor, { finished: true, nonce });
process.exit(0);
