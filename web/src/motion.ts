// Poses of bodies at any time: of a recorded run, or of one that goes on.
import { Matrix4, Quaternion, Vector3 } from "three";
import { placeOf } from "./clock";
import { type Table, unpacked } from "./packed";
import type { Scene, Vec3 } from "./scene";

/** Cosine of half the angle beyond which it is not known how a body turned between two rows. */
const FAR = Math.cos(0.75);

export abstract class Motion {
  readonly places: Vector3[];
  readonly turns: Quaternion[];
  row = 0;
  private readonly nextPlace = new Vector3();
  private readonly nextTurn = new Quaternion();

  constructor(bodies: number) {
    this.places = Array.from({ length: bodies }, () => new Vector3());
    this.turns = Array.from({ length: bodies }, () => new Quaternion());
  }

  /** Instants of the rows. */
  abstract get times(): Float64Array;
  abstract placeAt(row: number, body: number, out: Vector3): void;
  abstract turnAt(row: number, body: number, out: Quaternion): void;

  /** All bodies where they are at a time; `row` is the one nearest to it. */
  move(t: number): void {
    const { times } = this;
    const [k, part] = placeOf(times, t);
    const later = Math.min(k + 1, times.length - 1);
    this.row = part < 0.5 ? k : later;
    for (let b = 0; b < this.places.length; b++) {
      this.placeAt(k, b, this.places[b]);
      this.placeAt(later, b, this.nextPlace);
      this.places[b].lerp(this.nextPlace, part);
      const turn = this.turns[b];
      this.turnAt(k, b, turn);
      this.turnAt(later, b, this.nextTurn);
      if (Math.abs(turn.dot(this.nextTurn)) > FAR) turn.slerp(this.nextTurn, part);
      else if (part >= 0.5) turn.copy(this.nextTurn);
    }
  }

  /** A point of a body in the world. */
  world(body: number, point: Vec3, out: Vector3): Vector3 {
    return out.set(...point).applyQuaternion(this.turns[body]).add(this.places[body]);
  }

  /** The way of a point of a body, row by row; of many rows every few. */
  path(body: number, point: Vec3, most = 1500): Vector3[] {
    const rows = this.times.length;
    const every = Math.max(1, Math.ceil(rows / most));
    const turn = new Quaternion();
    const place = new Vector3();
    const points: Vector3[] = [];
    for (let k = 0; k < rows; k += every) {
      this.turnAt(k, body, turn);
      this.placeAt(k, body, place);
      points.push(new Vector3(...point).applyQuaternion(turn).add(place));
    }
    return points;
  }
}

/** The motion that stands in a scene. */
export class RecordedMotion extends Motion {
  readonly times: Float64Array;
  private readonly place: Table;
  private readonly turn: Table;

  constructor(scene: Scene, bytes: Uint8Array) {
    super(scene.bodies.length);
    this.times = unpacked(scene.times, bytes).data;
    this.place = unpacked(scene.poses.places, bytes);
    this.turn = unpacked(scene.poses.turns, bytes);
    this.move(this.times[0]);
  }

  override placeAt(k: number, b: number, out: Vector3): void {
    const c = 3 * b;
    out.set(this.place.at(k, c), this.place.at(k, c + 1), this.place.at(k, c + 2));
  }

  override turnAt(k: number, b: number, out: Quaternion): void {
    const c = 4 * b;
    const { turn } = this;
    out.set(turn.at(k, c + 1), turn.at(k, c + 2), turn.at(k, c + 3), turn.at(k, c)).normalize();
  }
}

/** Rows that arrive while a mechanism simulates; the oldest are forgotten. */
export class LiveMotion extends Motion {
  count = 0;
  private readonly t: Float64Array;
  private readonly poses: Float64Array;
  private readonly first: RecordedMotion;
  private readonly columnOf: number[];
  private readonly width: number;
  private readonly matrix = new Matrix4();

  /** `names` are those of the bodies whose poses arrive, in their order. */
  constructor(
    scene: Scene,
    bytes: Uint8Array,
    names: readonly string[],
    readonly most: number,
  ) {
    super(scene.bodies.length);
    this.first = new RecordedMotion(scene, bytes);
    this.columnOf = scene.bodies.map((x) => names.indexOf(x.name));
    this.width = 12 * names.length;
    this.t = new Float64Array(most);
    this.poses = new Float64Array(most * this.width);
    this.move(this.times[0]);
  }

  override get times(): Float64Array {
    return this.count ? this.t.subarray(0, this.count) : this.first.times.subarray(0, 1);
  }

  clear(): void {
    this.count = 0;
  }

  /** Adds rows; true where older ones were dropped, half of all, to make room. */
  append(t: Float64Array, poses: Float64Array): boolean {
    const half = this.most >> 1;
    const drops = this.count + t.length > this.most;
    if (drops) {
      this.t.copyWithin(0, this.count - half, this.count);
      this.poses.copyWithin(0, (this.count - half) * this.width, this.count * this.width);
      this.count = half;
    }
    this.t.set(t, this.count);
    this.poses.set(poses, this.count * this.width);
    this.count += t.length;
    return drops;
  }

  override placeAt(k: number, b: number, out: Vector3): void {
    const c = this.columnOf[b];
    if (!this.count || c < 0) return this.first.placeAt(0, b, out);
    const at = k * this.width + 12 * c + 9;
    out.set(this.poses[at], this.poses[at + 1], this.poses[at + 2]);
  }

  override turnAt(k: number, b: number, out: Quaternion): void {
    const c = this.columnOf[b];
    if (!this.count || c < 0) return this.first.turnAt(0, b, out);
    const at = k * this.width + 12 * c;
    const p = this.poses;
    this.matrix.set(
      p[at], p[at + 1], p[at + 2], 0,
      p[at + 3], p[at + 4], p[at + 5], 0,
      p[at + 6], p[at + 7], p[at + 8], 0,
      0, 0, 0, 1,
    );
    out.setFromRotationMatrix(this.matrix);
  }
}
