// Runs in the Worker, behind the script that defines `liaison.Run`.
import type { Answer, Beginning, Engine, Info, Order, Rows, Status } from "./engine";

interface Run {
  readonly info: Info;
  readonly isOver: boolean;
  start(options?: Record<string, unknown>): void;
  advance(budget: { until: number; milliseconds: number }): Status;
  setInput(name: string, value: number): void;
  status(): Status;
  state(): { t: number; q: Float64Array; v: Float64Array };
  take(): { count: number; t: Float64Array; q: Float64Array; v: Float64Array };
  takeEvents(): ({ t: number; what: string; name: string } | null)[];
  series(name: string, rows: unknown): Float64Array;
}

declare const liaison: { Run: { load(source: BufferSource): Promise<Run> } };

const FOREVER = 1e5; // seconds
/** The longest step [s]: inputs and hands act from the end of a step on, also where nothing moves yet. */
const LONGEST = 0.05;

class ModuleEngine implements Engine {
  readonly info: Info;
  private from: Beginning = { parameters: {}, start: {}, near: null };
  private inputs: Record<string, number> = {};

  constructor(
    private readonly run: Run,
    private readonly every: number,
  ) {
    this.info = run.info;
    this.restart();
  }

  setParameters(parameters: Record<string, number>): void {
    this.begin({ ...this.from, parameters });
  }

  setStart(start: Record<string, number>): void {
    this.begin({ ...this.from, start });
  }

  begin(from: Beginning): void {
    this.from = from;
    this.restart();
  }

  setInputs(values: Record<string, number>): void {
    for (const [name, value] of Object.entries(values)) this.run.setInput(name, value);
    Object.assign(this.inputs, values);
  }

  drag(inputs: readonly string[], force: readonly number[] | null): void {
    const known = new Set(this.info.inputs.map((x) => x.name));
    const missing = inputs.find((x) => !known.has(x));
    if (missing !== undefined) throw new Error(`this module has no input “${missing}” to drag a body with`);
    inputs.forEach((name, k) => {
      this.run.setInput(name, force ? force[k] : 0);
    });
  }

  advance(until: number, milliseconds: number): Rows {
    if (!this.run.isOver) this.run.advance({ until, milliseconds });
    const rows = this.run.take();
    const series: Record<string, Float64Array> = {};
    if (rows.count) for (const name of Object.keys(this.info.layout)) series[name] = this.run.series(name, rows);
    const events = this.run.takeEvents().filter((x) => x !== null);
    const plain = events.map(({ t, what, name }) => ({ t, what, name }));
    return { count: rows.count, t: rows.t, q: rows.q, v: rows.v, series, events: plain };
  }

  state(): { t: number; q: Float64Array; v: Float64Array } {
    return this.run.state();
  }

  status(): Status {
    return this.run.status();
  }

  private restart(): void {
    const { inputs, every } = this;
    const { parameters, start, near } = this.from;
    const options: Record<string, unknown> = { parameters, inputs, every, until: FOREVER, maxStep: LONGEST };
    if (Object.keys(start).length) options.start = start;
    if (near) options.near = near;
    this.run.start(options);
  }
}

let engine: ModuleEngine | null = null;
let serial = 0;

function tell(answer: Answer): void {
  postMessage(answer);
}

async function obey(order: Order): Promise<void> {
  if (order.kind === "open") {
    const bytes = order.module as Uint8Array<ArrayBuffer>;
    engine = new ModuleEngine(await liaison.Run.load(bytes), order.every);
    tell({ kind: "ready", info: JSON.parse(JSON.stringify(engine.info)) as Info });
  } else if (!engine) throw new Error("the engine is not ready");
  else if (order.kind === "begin") {
    const before = performance.now();
    serial = order.serial;
    engine.begin(order);
    tell({ kind: "begun", serial, milliseconds: performance.now() - before });
  } else if (order.kind === "input") engine.setInputs(order.values);
  else if (order.kind === "drag") engine.drag(order.inputs, order.force);
  else if (order.serial === serial) {
    const rows = engine.advance(order.until, order.milliseconds);
    tell({ kind: "rows", serial, rows, status: engine.status() });
  }
}

addEventListener("message", (event: MessageEvent<Order>) => {
  obey(event.data).catch((error: unknown) => {
    tell({ kind: "failed", serial, message: error instanceof Error ? error.message : String(error) });
  });
});
