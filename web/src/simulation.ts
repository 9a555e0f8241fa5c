// A mechanism that simulates beside the picture: rows arrive from the Worker and are kept.
import type { Source } from "./charts";
import type { Clock } from "./clock";
import { type Answer, type Info, makeWorker, type Order, type Rows, type Status } from "./engine";
import { LiveMotion } from "./motion";
import type { Scene } from "./scene";

/** Seconds between recorded states, and states that are kept. */
const EVERY = 1 / 120;
const MOST = 24000;
/** Seconds of the viewer that the run is ahead, and milliseconds of one piece of work. */
const AHEAD = 0.12;
const PIECE = 14;

/** Columns of a run that goes on. */
class LiveSource implements Source {
  readonly columns: { name: string; group: string; unit: string }[] = [];
  readonly error = 2 ** -53;
  readonly chosen: readonly string[];
  private readonly data = new Map<string, Float64Array>();
  private readonly readers: { name: string; read: (rows: Rows, k: number) => number }[] = [];

  constructor(
    info: Info,
    scene: Scene,
    private readonly motion: LiveMotion,
  ) {
    const units = new Map(scene.series.columns.map((x) => [x.name, x.unit]));
    info.coordinates.forEach(({ name, unit }, c) => {
      this.add(name, "coordinates", unit, (rows, k) => rows.q[k * info.coordinates.length + c]);
    });
    info.speeds.forEach(({ name, unit }, c) => {
      this.add(name, "velocities", unit, (rows, k) => rows.v[k * info.speeds.length + c]);
    });
    for (const [series, layout] of Object.entries(info.layout)) {
      if (series === "poses") continue;
      const width = layout.reduce((sum, [, size]) => sum + size, 0);
      let first = 0;
      for (const [part, size] of layout)
        for (let j = 0; j < size; j++) {
          const at = first++;
          const name = `${series}.${part}${size > 1 ? `[${j + 1}]` : ""}`;
          const unit = units.get(name) ?? (series === "energy" ? "J" : "");
          this.add(name, series, unit, (rows, k) => rows.series[series][k * width + at]);
        }
    }
    const has = new Set(this.columns.map((x) => x.name));
    if (has.has("energy.T") && has.has("energy.U")) {
      const width = info.layout.energy.reduce((sum, [, size]) => sum + size, 0);
      const names = info.layout.energy.map(([part]) => part);
      const [a, b] = [names.indexOf("T"), names.indexOf("U")];
      this.add("energy.T+U", "energy", "J", ({ series }, k) => series.energy[k * width + a] + series.energy[k * width + b]);
      has.add("energy.T+U");
    }
    this.chosen = scene.series.chosen.filter((x) => has.has(x));
  }

  get times(): Float64Array {
    return this.motion.count ? this.motion.times : new Float64Array(1);
  }

  values(name: string): Float64Array {
    return (this.data.get(name) as Float64Array).subarray(0, Math.max(this.motion.count, 1));
  }

  last(name: string): number | null {
    const { count } = this.motion;
    return count && this.data.has(name) ? (this.data.get(name) as Float64Array)[count - 1] : null;
  }

  /** Rows that come to stand at a place; `kept` are those that stay before them. */
  put(rows: Rows, at: number, dropped: number): void {
    for (const { name, read } of this.readers) {
      const column = this.data.get(name) as Float64Array;
      if (dropped) column.copyWithin(0, dropped, dropped + at);
      for (let k = 0; k < rows.count; k++) column[at + k] = read(rows, k);
    }
  }

  private add(name: string, group: string, unit: string, read: (rows: Rows, k: number) => number): void {
    this.columns.push({ name, group, unit });
    this.data.set(name, new Float64Array(MOST));
    this.readers.push({ name, read });
  }
}

export class Simulation {
  readonly motion: LiveMotion;
  readonly source: LiveSource;
  status: Status | null = null;
  /** Milliseconds from a changed value to the first state of its motion. */
  delay = 0;
  isFast = false;
  /** A body is held by hand: the run is hardly ahead of the picture. */
  isHeld = false;
  /** Of the run that goes on, where they are not those of the module. */
  parameters: Record<string, number> = {};
  private serial = 0;
  private isWaiting = false;
  private isBeginning = false;
  private next: { parameters: Record<string, number>; start: Record<string, number> } | null = null;
  private sentAt = 0;
  private sent: Record<string, number> = {};
  private readonly heard: ((what: "rows" | "begun" | "failed", message: string) => void)[] = [];

  private constructor(
    private readonly worker: Worker,
    readonly info: Info,
    scene: Scene,
    bytes: Uint8Array,
  ) {
    const names = info.layout.poses.map(([name]) => name);
    this.motion = new LiveMotion(scene, bytes, names, MOST);
    this.source = new LiveSource(info, scene, this.motion);
    worker.onmessage = (event: MessageEvent<Answer>) => this.take(event.data);
  }

  /** Starts the Worker and waits until its engine is ready. */
  static async open(script: string, module: Uint8Array, scene: Scene, bytes: Uint8Array): Promise<Simulation> {
    const worker = makeWorker(script);
    const info = await new Promise<Info>((ready, failed) => {
      worker.onmessage = (event: MessageEvent<Answer>) => {
        if (event.data.kind === "ready") ready(event.data.info);
        else if (event.data.kind === "failed") failed(new Error(event.data.message));
      };
      worker.onerror = (event) => failed(new Error(event.message || "the worker does not start"));
      worker.postMessage({ kind: "open", module, every: EVERY, ahead: AHEAD } satisfies Order);
    });
    return new Simulation(worker, info, scene, bytes);
  }

  onChange(act: (what: "rows" | "begun" | "failed", message: string) => void): void {
    this.heard.push(act);
  }

  /** Another run, with these parameters and starts; the old one stays until it has begun. */
  begin(parameters: Record<string, number>, start: Record<string, number>): void {
    this.next = { parameters, start };
    this.sendNext();
  }

  setInput(name: string, value: number): void {
    this.send({ kind: "input", values: { [name]: value } });
  }

  drag(inputs: readonly string[], force: readonly number[] | null): void {
    this.send({ kind: "drag", inputs, force });
  }

  /** Called at every picture: asks for as much as will be shown. */
  frame(clock: Clock): void {
    if (this.isWaiting || this.isBeginning) return;
    if (this.status && this.status.status !== "running") return;
    const last = this.motion.count ? this.motion.times[this.motion.count - 1] : 0;
    const until = this.isFast && clock.playing ? last + 10 : clock.time + (this.isHeld ? 0.25 : 1) * AHEAD * Math.max(clock.speed, 0.05);
    if (this.motion.count > 1 && last >= until) return;
    if (!clock.playing && this.motion.count > 1) return;
    this.isWaiting = true;
    this.send({ kind: "advance", serial: this.serial, until, milliseconds: PIECE });
  }

  private send(order: Order): void {
    this.worker.postMessage(order);
  }

  private sendNext(): void {
    if (!this.next || this.isBeginning) return;
    this.isBeginning = true;
    this.isWaiting = false;
    this.serial += 1;
    this.sentAt = performance.now();
    this.sent = this.next.parameters;
    this.send({ kind: "begin", serial: this.serial, ...this.next });
    this.next = null;
  }

  private take(answer: Answer): void {
    if (answer.kind === "ready" || answer.serial !== this.serial) return;
    if (answer.kind === "begun") {
      this.isBeginning = false;
      this.motion.clear();
      this.parameters = this.sent;
      this.status = null;
      this.tell("begun");
      this.sendNext();
    } else if (answer.kind === "failed") {
      this.isBeginning = this.isWaiting = false;
      this.tell("failed", answer.message);
      this.sendNext();
    } else {
      this.isWaiting = false;
      if (this.isBeginning) return;
      this.add(answer.rows);
      this.status = answer.status;
      this.tell("rows");
    }
  }

  private add(rows: Rows): void {
    if (!rows.count) return;
    if (!this.motion.count) this.delay = performance.now() - this.sentAt;
    const before = this.motion.count;
    const drops = this.motion.append(rows.t, rows.series.poses);
    const at = this.motion.count - rows.count;
    this.source.put(rows, at, drops ? before - at : 0);
  }

  private tell(what: "rows" | "begun" | "failed", message = ""): void {
    for (const act of this.heard) act(what, message);
  }
}
