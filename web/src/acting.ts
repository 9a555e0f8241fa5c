// What acts at every row of a motion: forces of joints, and places of contact with their states.
import { Vector3 } from "three";
import type { Info, Rows } from "./engine";
import { type Table, unpacked } from "./packed";
import type { Scene, Vec3 } from "./scene";

/** Numbers of `scene.states`. */
const [OPEN, HOLDS, SLIPS, ROLLS] = [0, 1, 2, 3];
/** By number of a state: which one of several places is shown. */
const STRENGTH = [0, 1, 3, 2];
const MOST_STRIPS = 10;
const MOST_SPANS = 2000;
/** The mode of friction that slips, in the engine's numbers. */
const SLIPPING = 2;
/** Seconds of the viewer that an impact is seen. */
const FLASH = 0.12;
/** Of its largest speed, below which a place of contact stays where it is. */
const STILL = 1e-3;
/** Kept of a place of contact: point, force, moment, state. */
const KEPT = 10;

export interface Acting {
  /** The force of a joint on its successor [N], in the world's axes. */
  force(k: number, row: number, out: Vector3): Vector3;
  point(k: number, row: number, out: Vector3): Vector3;
  contactForce(k: number, row: number, out: Vector3): Vector3;
  moment(k: number, row: number, out: Vector3): Vector3;
  state(k: number, row: number): number;
  isHit(k: number, row: number): boolean;
}

/** As it stands in a scene. */
export class RecordedActing implements Acting {
  private readonly forces: Table[];
  private readonly touches: { points: Table; forces: Table; moments: Table | null; states: Table; hits: Table }[];

  constructor(scene: Scene, bytes: Uint8Array) {
    this.forces = scene.forces.map((x) => unpacked(x.values, bytes));
    this.touches = scene.contacts.map((x) => ({
      points: unpacked(x.points, bytes),
      forces: unpacked(x.forces, bytes),
      moments: x.moments ? unpacked(x.moments, bytes) : null,
      states: unpacked(x.states, bytes),
      hits: unpacked(x.hits, bytes),
    }));
  }

  force(k: number, row: number, out: Vector3): Vector3 {
    return vector(this.forces[k], row, out);
  }

  point(k: number, row: number, out: Vector3): Vector3 {
    return vector(this.touches[k].points, row, out);
  }

  contactForce(k: number, row: number, out: Vector3): Vector3 {
    return vector(this.touches[k].forces, row, out);
  }

  moment(k: number, row: number, out: Vector3): Vector3 {
    const { moments } = this.touches[k];
    return moments ? vector(moments, row, out) : out.set(0, 0, 0);
  }

  state(k: number, row: number): number {
    return this.touches[k].states.at(row, 0);
  }

  isHit(k: number, row: number): boolean {
    return this.touches[k].hits.at(row, 0) > 0;
  }
}

function vector(table: Table, row: number, out: Vector3): Vector3 {
  return out.set(table.at(row, 0), table.at(row, 1), table.at(row, 2));
}

/** Where the numbers of a place of contact are in the rows of an engine. */
interface Place {
  name: string;
  owner: string;
  at: number;
  over: number;
  block: number;
  sliding: number;
  rows: { column: number; at: number }[];
  aside: Vec3;
}

/** Rows that arrive while a mechanism simulates. */
export class LiveActing implements Acting {
  /** Seconds of the run shown in one second. */
  speed = 1;
  private readonly places: Place[];
  private readonly joints: { body: number; at: number; axes: number[] }[];
  private readonly widths: Record<string, number> = {};
  private readonly kept: Float32Array;
  private readonly forces: Float32Array;
  private readonly hits: number[][];
  private readonly fastest: number[];
  private readonly none: RecordedActing;
  private readonly spans = new Map<string, [number, number, number][]>();

  constructor(
    info: Info,
    scene: Scene,
    bytes: Uint8Array,
    private readonly motion: { readonly times: Float64Array; readonly count: number },
    most: number,
  ) {
    const { contacts, forces } = scene.live ?? { contacts: [], forces: [] };
    const offsets = (series: string) => {
      const found = new Map<string, number>();
      let at = 0;
      for (const [name, size] of info.layout[series] ?? []) {
        found.set(name, at);
        at += size;
      }
      this.widths[series] = at;
      return found;
    };
    const [marks, rows, modes, joints] = ["marks", "contacts", "modes", "reactions"].map(offsets);
    this.places = contacts.map((x) => {
      const at = marks.get(x.name) as number;
      const first = at + 3 + (x.rolls ? 1 : 0);
      return {
        name: x.name,
        owner: x.name.split("[")[0],
        at,
        over: x.rolls ? at + 3 : -1,
        block: modes.get(x.block) as number,
        sliding: modes.get(x.sliding) ?? -1,
        rows: x.rows.map((label, k) => ({ column: rows.get(label) as number, at: first + 6 * k })),
        aside: x.aside,
      };
    });
    const bodies = info.layout.poses.map(([name]) => name);
    this.joints = forces.map((x, k) => ({
      body: bodies.indexOf(scene.bodies[scene.forces[k].body].name),
      at: (joints.get(x.name) as number) + 3,
      axes: x.axes,
    }));
    offsets("poses");
    this.kept = new Float32Array(most * KEPT * this.places.length);
    this.forces = new Float32Array(most * 3 * this.joints.length);
    this.hits = this.places.map(() => []);
    this.fastest = this.places.map(() => 0);
    this.none = new RecordedActing(scene, bytes);
  }

  clear(): void {
    this.hits.forEach((x) => x.splice(0));
    this.fastest.fill(0);
    this.spans.clear();
  }

  /** For each contact its states other than open, each from and to an instant. */
  strips(begin: number, end: number): Scene["strips"] {
    return [...this.spans].slice(0, MOST_STRIPS).map(([name, spans]) => {
      while (spans.length && spans[0][2] < begin) spans.shift();
      const shown = spans.filter((x) => x[0] !== OPEN && x[1] <= end);
      return { name, spans: shown.map(([state, a, b]) => [state, Math.max(a, begin), Math.min(b, end)]) };
    });
  }

  /** Impacts among events, which may come before the next row. */
  putHits(events: Rows["events"]): void {
    for (const { t, what, name } of events)
      if (what === "impact") this.places.forEach((x, k) => x.name === name && this.hits[k].push(t));
  }

  /** Rows that come to stand at a place; `dropped` go from before them. */
  put(rows: Rows, at: number, dropped: number): void {
    const [n, m] = [KEPT * this.places.length, 3 * this.joints.length];
    if (dropped) {
      this.kept.copyWithin(0, dropped * n, (dropped + at) * n);
      this.forces.copyWithin(0, dropped * m, (dropped + at) * m);
    }
    for (let k = 0; k < rows.count; k++) {
      this.places.forEach((place, i) => this.putPlace(rows, k, place, i, (at + k) * n + KEPT * i));
      this.joints.forEach((joint, i) => this.putForce(rows, k, joint, (at + k) * m + 3 * i));
      if (this.places.length) this.putSpans(rows.t[k], (at + k) * n);
    }
  }

  /** The state of each contact goes on, or another begins: the strongest of its places. */
  private putSpans(t: number, from: number): void {
    const now = new Map<string, number>();
    this.places.forEach(({ owner }, i) => {
      const state = this.kept[from + KEPT * i + 9];
      const other = now.get(owner) ?? OPEN;
      now.set(owner, STRENGTH[state] > STRENGTH[other] ? state : other);
    });
    for (const [owner, state] of now) {
      if (!this.spans.has(owner)) this.spans.set(owner, []);
      const spans = this.spans.get(owner) as [number, number, number][];
      const last = spans[spans.length - 1];
      if (last) last[2] = t;
      if (last?.[0] !== state) spans.push([state, t, t]);
      if (spans.length > MOST_SPANS) spans.splice(0, spans.length - MOST_SPANS);
    }
  }

  force(k: number, row: number, out: Vector3): Vector3 {
    if (!this.motion.count) return this.none.force(k, 0, out);
    return out.fromArray(this.forces, 3 * (row * this.joints.length + k));
  }

  point(k: number, row: number, out: Vector3): Vector3 {
    if (!this.motion.count) return this.none.point(k, 0, out);
    return out.fromArray(this.kept, this.first(k, row));
  }

  contactForce(k: number, row: number, out: Vector3): Vector3 {
    if (!this.motion.count) return this.none.contactForce(k, 0, out);
    return out.fromArray(this.kept, this.first(k, row) + 3);
  }

  moment(k: number, row: number, out: Vector3): Vector3 {
    if (!this.motion.count) return this.none.moment(k, 0, out);
    return out.fromArray(this.kept, this.first(k, row) + 6);
  }

  state(k: number, row: number): number {
    return this.motion.count ? this.kept[this.first(k, row) + 9] : this.none.state(k, 0);
  }

  isHit(k: number, row: number): boolean {
    if (!this.motion.count) return false;
    const now = this.motion.times[row];
    const hits = this.hits[k];
    let i = hits.length - 1;
    while (i >= 0 && hits[i] > now) i--;
    return i >= 0 && now - hits[i] <= FLASH * this.speed;
  }

  private first(k: number, row: number): number {
    return KEPT * (row * this.places.length + k);
  }

  private putPlace(rows: Rows, k: number, place: Place, i: number, to: number): void {
    const { kept, widths } = this;
    const { marks, contacts, modes } = rows.series;
    const from = k * widths.marks;
    const mode = (block: number) => (block < 0 ? 0 : modes[k * widths.modes + block]);
    const isClosed = mode(place.block) > 0;
    for (let j = 0; j < 3; j++) kept[to + j] = marks[from + place.at + j] + place.aside[j];
    kept.fill(0, to + 3, to + 9);
    if (isClosed)
      for (const { column, at } of place.rows) {
        const f = contacts[k * widths.contacts + column];
        for (let j = 0; j < 6; j++) kept[to + 3 + j] += f * marks[from + at + j];
      }
    const over = place.over < 0 ? 0 : Math.sqrt(Math.max(marks[from + place.over], 0));
    if (isClosed) this.fastest[i] = Math.max(this.fastest[i], over);
    let state = isClosed ? HOLDS : OPEN;
    if (isClosed && mode(place.sliding) > 0 && over > STILL * this.fastest[i]) state = ROLLS;
    if (isClosed && (mode(place.sliding) === SLIPPING || mode(place.block) === SLIPPING)) state = SLIPS;
    kept[to + 9] = state;
  }

  /** A force in the axes of its marker, turned by the body that carries the marker. */
  private putForce(rows: Rows, k: number, joint: { body: number; at: number; axes: number[] }, to: number): void {
    const { widths } = this;
    const { reactions, poses } = rows.series;
    const [a, b] = [joint.axes, k * widths.reactions + joint.at];
    const local = [0, 1, 2].map((r) => a[3 * r] * reactions[b] + a[3 * r + 1] * reactions[b + 1] + a[3 * r + 2] * reactions[b + 2]);
    const at = k * widths.poses + 12 * joint.body;
    for (let r = 0; r < 3; r++)
      this.forces[to + r] =
        joint.body < 0
          ? local[r]
          : poses[at + 3 * r] * local[0] + poses[at + 3 * r + 1] * local[1] + poses[at + 3 * r + 2] * local[2];
  }
}
