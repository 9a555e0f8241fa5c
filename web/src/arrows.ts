// Arrows and dots in numbers: one mesh of shafts, one of heads, one of balls.
import {
  type BufferGeometry,
  Color as Tint,
  DynamicDrawUsage,
  GreaterDepth,
  Group,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  Quaternion,
  Vector3,
} from "three";
import { BALL, CONE, SHAFT } from "./solids";

const Z = new Vector3(0, 0, 1);
const WIDTH = 0.011; // radius of a shaft, in sizes of the scene
const HEAD = 0.028;
const HEAD_LENGTH = 0.075;
const AGAIN = 0.8; // how far behind its first head the second of a moment stands, in heads

function instances(geometry: BufferGeometry, count: number): InstancedMesh {
  const look = new MeshStandardMaterial({ roughness: 0.5 });
  const made = new InstancedMesh(geometry, look, count);
  made.instanceMatrix.setUsage(DynamicDrawUsage);
  made.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * count).fill(1), 3);
  made.frustumCulled = false;
  // behind bodies they shine through
  const pale = new MeshStandardMaterial({
    roughness: 0.5,
    transparent: true,
    opacity: 0.38,
    depthFunc: GreaterDepth,
    depthWrite: false,
  });
  const ghost = new InstancedMesh(geometry, pale, count);
  ghost.instanceMatrix = made.instanceMatrix;
  ghost.instanceColor = made.instanceColor;
  ghost.frustumCulled = false;
  made.add(ghost);
  return made;
}

/** A number of balls that move and change color. */
export class Dots {
  readonly node: InstancedMesh;
  private readonly matrix = new Matrix4();
  private readonly upright = new Quaternion();

  constructor(count: number) {
    this.node = instances(BALL, count);
  }

  set(k: number, place: Vector3, radius: number, color: Tint): void {
    const scale = new Vector3(radius, radius, radius);
    this.node.setMatrixAt(k, this.matrix.compose(place, this.upright, scale));
    this.node.setColorAt(k, color);
  }

  done(): void {
    this.node.instanceMatrix.needsUpdate = true;
    if (this.node.instanceColor) this.node.instanceColor.needsUpdate = true;
  }
}

/** A number of arrows; an arrow of a moment has two heads. Short ones have small heads. */
export class Arrows {
  readonly node = new Group();
  private readonly shafts: InstancedMesh;
  private readonly heads: InstancedMesh;
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();
  private readonly way = new Vector3();
  private readonly foot = new Vector3();

  constructor(
    readonly count: number,
    readonly size: number,
  ) {
    this.shafts = instances(SHAFT, count);
    this.heads = instances(CONE, 2 * count);
    this.node.add(this.shafts, this.heads);
  }

  set(k: number, start: Vector3, vector: Vector3, color: Tint, hasTwoHeads = false): void {
    const length = vector.length();
    const head = Math.min(HEAD_LENGTH * this.size, 0.5 * length);
    const wide = head / HEAD_LENGTH;
    this.way.copy(vector).divideScalar(length || 1);
    this.turn.setFromUnitVectors(Z, length > 0 ? this.way : Z);
    const shaft = new Vector3(WIDTH * wide, WIDTH * wide, length - head);
    this.shafts.setMatrixAt(k, this.matrix.compose(start, this.turn, shaft));
    const tip = new Vector3(HEAD * wide, HEAD * wide, head);
    this.foot.copy(start).addScaledVector(this.way, length - head);
    this.heads.setMatrixAt(2 * k, this.matrix.compose(this.foot, this.turn, tip));
    if (hasTwoHeads) this.foot.addScaledVector(this.way, -AGAIN * head);
    else tip.setScalar(0);
    this.heads.setMatrixAt(2 * k + 1, this.matrix.compose(this.foot, this.turn, tip));
    this.shafts.setColorAt(k, color);
    this.heads.setColorAt(2 * k, color);
    this.heads.setColorAt(2 * k + 1, color);
  }

  done(): void {
    for (const mesh of [this.shafts, this.heads]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }
}
