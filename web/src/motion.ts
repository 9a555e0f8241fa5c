// Poses of bodies at any time, between the pictures of a run.
import { Quaternion, Vector3 } from "three";
import { placeOf } from "./clock";
import { type Table, unpacked } from "./packed";
import type { Scene, Vec3 } from "./scene";

/** Cosine of half the angle beyond which it is not known how a body turned between two pictures. */
const FAR = Math.cos(0.75);

export class Motion {
  readonly times: Float64Array;
  readonly places: Vector3[];
  readonly turns: Quaternion[];
  row = 0;
  private readonly place: Table;
  private readonly turn: Table;
  private readonly next = new Quaternion();

  constructor(scene: Scene, bytes: Uint8Array) {
    this.times = unpacked(scene.times, bytes).data;
    this.place = unpacked(scene.poses.places, bytes);
    this.turn = unpacked(scene.poses.turns, bytes);
    this.places = scene.bodies.map(() => new Vector3());
    this.turns = scene.bodies.map(() => new Quaternion());
    this.move(this.times[0]);
  }

  /** All bodies where they are at a time; `row` is the picture nearest to it. */
  move(t: number): void {
    const [k, part] = placeOf(this.times, t);
    const later = Math.min(k + 1, this.times.length - 1);
    this.row = part < 0.5 ? k : later;
    for (let b = 0; b < this.places.length; b++) {
      this.placeAt(k, later, part, b);
      const turn = this.turns[b];
      this.turnAt(k, b, turn);
      this.turnAt(later, b, this.next);
      if (Math.abs(turn.dot(this.next)) > FAR) turn.slerp(this.next, part);
      else if (part >= 0.5) turn.copy(this.next);
    }
  }

  /** A point of a body in the world. */
  world(body: number, point: Vec3, out: Vector3): Vector3 {
    return out.set(...point).applyQuaternion(this.turns[body]).add(this.places[body]);
  }

  /** The way of a point of a body, picture by picture; of many pictures every few. */
  path(body: number, point: Vec3, most = 1500): Vector3[] {
    const every = Math.ceil(this.times.length / most);
    const turn = new Quaternion();
    const points: Vector3[] = [];
    for (let k = 0; k < this.times.length; k += every) {
      this.turnAt(k, body, turn);
      const p = new Vector3(...point).applyQuaternion(turn);
      points.push(p.add(this.rowPlace(k, body)));
    }
    return points;
  }

  private rowPlace(k: number, b: number): Vector3 {
    const c = 3 * b;
    return new Vector3(this.place.at(k, c), this.place.at(k, c + 1), this.place.at(k, c + 2));
  }

  private placeAt(k: number, later: number, part: number, b: number): void {
    const c = 3 * b;
    const now = (axis: number) =>
      (1 - part) * this.place.at(k, c + axis) + part * this.place.at(later, c + axis);
    this.places[b].set(now(0), now(1), now(2));
  }

  private turnAt(k: number, b: number, out: Quaternion): void {
    const c = 4 * b;
    const { turn } = this;
    out.set(turn.at(k, c + 1), turn.at(k, c + 2), turn.at(k, c + 3), turn.at(k, c)).normalize();
  }
}
