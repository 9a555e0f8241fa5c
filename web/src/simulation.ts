// A mechanism that simulates beside the picture: rows arrive from the Worker and are kept.
import { LiveActing } from "./acting";
import type { Source } from "./charts";
import type { Clock } from "./clock";
import { type Answer, type Beginning, type Info, makeWorker, type Order, type Rows, type Status } from "./engine";
import { LiveMotion } from "./motion";
import type { EventGroup, Scene } from "./scene";

/** Seconds between recorded states, and states that are kept. */
const EVERY = 1 / 120;
const MOST = 24000;
/** Seconds of the viewer that the run is ahead, and milliseconds of one piece of work. */
const AHEAD = 0.12;
const MOST_AHEAD = 0.6;
const PIECE = 14;
/** Series that are drawn and have no curves. */
const DRAWN = new Set(["poses", "marks"]);
/** Part of the time shown within which events of one owner are one group, and events that are kept. */
const NEAR = 1 / 120;
const MOST_EVENTS = 4000;

/** Events up to a time; those of one owner that follow each other closely are one group. */
function grouped(events: Rows["events"], end: number, gap: number): EventGroup[] {
  const groups: (EventGroup & { counts: Map<string, number> })[] = [];
  const latest = new Map<string, (typeof groups)[number]>();
  for (const { t, what, name } of events) {
    if (t > end) break;
    const owner = name.split(": ")[0].split("[")[0];
    const last = latest.get(owner);
    if (last && t - last.end <= gap) {
      last.end = t;
      last.count += 1;
      last.hit ||= what === "impact";
      last.counts.set(what, (last.counts.get(what) ?? 0) + 1);
      continue;
    }
    const words = what === "event" ? name : `${name} ${what}`;
    const made = { begin: t, end: t, owner, count: 1, words, hit: what === "impact", counts: new Map([[what, 1]]) };
    groups.push(made);
    latest.set(owner, made);
  }
  for (const one of groups)
    if (one.count > 1) one.words = `${one.owner}: ${[...one.counts].map(([x, n]) => `${n} × ${x}`).join(", ")}`;
  return groups;
}

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
      if (DRAWN.has(series)) continue;
      const width = layout.reduce((sum, [, size]) => sum + size, 0);
      let first = 0;
      for (const [part, size] of layout)
        for (let j = 0; j < size; j++) {
          const at = first++;
          const known = scene.live?.columns[`${series}.${part}`]?.[j];
          if (known === null) continue;
          const [name, own] = known ?? [`${series}.${part}${size > 1 ? `[${j + 1}]` : ""}`, ""];
          const unit = own || (units.get(name) ?? (series === "energy" ? "J" : ""));
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
    const { count } = this.motion;
    return count ? (this.data.get(name) as Float64Array).subarray(0, count) : new Float64Array(1).fill(NaN);
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
  readonly acting: LiveActing;
  readonly source: LiveSource;
  status: Status | null = null;
  /** Milliseconds from a changed value to the first state of its motion. */
  delay = 0;
  isFast = false;
  /** A body is held by hand: the run is hardly ahead of the picture. */
  isHeld = false;
  /** Of the run that goes on, where they are not those of the module. */
  parameters: Record<string, number> = {};
  /** Of the run that goes on. */
  serial = 0;
  private isWaiting = false;
  private isBeginning = false;
  /** The assembly mode of the run that goes on. */
  mode = 0;
  private next: Beginning | null = null;
  private sentAt = 0;
  private sent: { parameters: Record<string, number>; mode: number } = { parameters: {}, mode: 0 };
  private nextMode = 0;
  private readonly happened: Rows["events"][number][] = [];
  private count = 0;
  private clock: Clock | null = null;
  private ahead = AHEAD;
  private pictureAt = 0;
  private readonly heard: ((what: "rows" | "begun" | "failed", message: string) => void)[] = [];

  private constructor(
    private readonly worker: Worker,
    readonly info: Info,
    readonly scene: Scene,
    bytes: Uint8Array,
  ) {
    const names = info.layout.poses.map(([name]) => name);
    this.motion = new LiveMotion(scene, bytes, names, MOST);
    this.acting = new LiveActing(info, scene, bytes, this.motion, MOST);
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

  /** Another run, with these values in this assembly mode; the old one stays until it has begun. */
  begin(parameters: Record<string, number>, start: Record<string, number>, mode = 0): void {
    const { q, held } = this.scene.modes?.[mode] ?? { q: [], held: [] };
    this.next = { parameters, start, near: mode > 0 ? { q, held } : null };
    this.nextMode = mode;
    this.sendNext();
  }

  setInput(name: string, value: number): void {
    this.send({ kind: "input", values: { [name]: value } });
  }

  drag(inputs: readonly string[], force: readonly number[] | null): void {
    this.send({ kind: "drag", inputs, force });
  }

  /** Called at every picture: asks for as much as will be shown until the next. */
  frame(clock: Clock): void {
    const now = performance.now();
    const gap = Math.min((now - this.pictureAt) / 1000, MOST_AHEAD);
    this.pictureAt = now;
    this.ahead = Math.max(AHEAD, 0.8 * this.ahead, 2 * gap);
    this.clock = clock;
    this.ask(clock);
  }

  private ask(clock: Clock): void {
    if (this.isWaiting || this.isBeginning) return;
    if (this.status && this.status.status !== "running") return;
    const last = this.motion.count ? this.motion.times[this.motion.count - 1] : 0;
    const shown = (this.isHeld ? 0.25 : 1) * Math.min(this.ahead, MOST_AHEAD) * Math.max(clock.speed, 0.05);
    const until = this.isFast && clock.playing ? last + 10 : clock.time + shown;
    if (this.motion.count > 1 && last + EVERY > until) return;
    // while time stands still there is as much as a hand steps through
    if (!clock.playing && this.motion.count > 1 && last > clock.time + 2 * EVERY) return;
    this.advance(until);
  }

  private advance(until: number): void {
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
    this.sent = { parameters: this.next.parameters, mode: this.nextMode };
    this.send({ kind: "begin", serial: this.serial, ...this.next });
    this.next = null;
    // the first states come with the answer
    this.advance(AHEAD * Math.max(this.clock?.speed ?? 1, 0.05));
  }

  private take(answer: Answer): void {
    if (answer.kind === "ready" || answer.serial !== this.serial) return;
    if (answer.kind === "begun") {
      this.isBeginning = false;
      this.motion.clear();
      this.acting.clear();
      this.happened.length = this.count = 0;
      Object.assign(this.scene.events, { count: 0, groups: [] });
      this.scene.strips = [];
      this.parameters = this.sent.parameters;
      this.mode = this.sent.mode;
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
      if (this.clock && !this.isFast && answer.rows.count) this.ask(this.clock);
    }
  }

  private add(rows: Rows): void {
    this.happened.push(...rows.events);
    this.count += rows.events.length;
    this.acting.putHits(rows.events);
    if (!rows.count) return;
    if (!this.motion.count) this.delay = performance.now() - this.sentAt;
    const before = this.motion.count;
    const drops = this.motion.append(rows.t, rows.series.poses);
    const at = this.motion.count - rows.count;
    this.source.put(rows, at, drops ? before - at : 0);
    this.acting.put(rows, at, drops ? before - at : 0);
  }

  /** Groups of events and strips of contacts, for the part of the run that is kept. */
  refreshEvents(begin: number, end: number): void {
    const { events } = this.scene;
    if (this.happened.length > MOST_EVENTS) this.happened.splice(0, this.happened.length - MOST_EVENTS);
    while (this.happened.length && this.happened[0].t < begin) this.happened.shift();
    events.count = this.count;
    events.groups = grouped(this.happened, end, (end - begin) * NEAR);
    this.scene.strips = this.acting.strips(begin, end);
  }

  private tell(what: "rows" | "begun" | "failed", message = ""): void {
    for (const act of this.heard) act(what, message);
  }
}
