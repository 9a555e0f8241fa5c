// Runs modules by the script of the package: one process for all jobs of a test file.
const fs = require("fs");
const vm = require("vm");
const [, , script, path] = process.argv;
const { Run } = require(script);

// the same text as a plain script, as in a Worker made from a Blob: no module, no require
const worker = vm.createContext({ WebAssembly, TextDecoder, performance });
vm.runInContext(fs.readFileSync(script, "utf8"), worker);

const hex = (x) => Buffer.from(x.buffer, x.byteOffset, x.byteLength).toString("hex");

function error(fault) {
  return { error: fault.message, kind: fault.status ?? fault.constructor.name };
}

function asked(run, one) {
  try {
    if (one.get) return { info: run.info };
    if ("start" in one) run.start(one.start);
    for (const [name, value] of Object.entries(one.inputs ?? {})) run.setInput(name, value);
    const status = run.advance(one.advance);
    const rows = run.take();
    const series = Object.fromEntries((one.series ?? []).map((name) => [name, hex(run.series(name, rows))]));
    const events = run.takeEvents().map(({ t, what, name }) => [t, what, name]);
    return { status, t: hex(rows.t), q: hex(rows.q), v: hex(rows.v), count: rows.count, series, events, state: Array.from(run.state().q) };
  } catch (fault) {
    return error(fault);
  }
}

const answers = JSON.parse(fs.readFileSync(path)).map(({ module, runs, plain }) => {
  try {
    const Made = plain ? worker.liaison.Run : Run;
    const run = new Made(new WebAssembly.Module(fs.readFileSync(module)));
    return runs.map((one) => asked(run, one));
  } catch (fault) {
    return runs.map(() => error(fault));
  }
});
console.log(JSON.stringify(answers));
