// Springs, dampers, motors, drives and rods: one symbol each, along a length or about an axis.
import {
  CatmullRomCurve3,
  Curve,
  Group,
  Matrix4,
  Mesh,
  type MeshStandardMaterial,
  Quaternion,
  TorusGeometry,
  TubeGeometry,
  Vector3,
} from "three";
import type { Motion } from "./motion";
import type { Color, Load } from "./scene";
import { BOX, CONE, material, PILLAR, SHAFT } from "./solids";

const Z = new Vector3(0, 0, 1);
const TURNS = 8;
const END = 0.12; // of a coil is straight

class Helix extends Curve<Vector3> {
  constructor(
    readonly radius: number,
    readonly length: number,
  ) {
    super();
  }
  override getPoint(s: number, out = new Vector3()): Vector3 {
    const inner = Math.min(Math.max((s - END) / (1 - 2 * END), 0), 1);
    const near = Math.min(1, Math.min(s, 1 - s) / END);
    const angle = 2 * Math.PI * TURNS * inner;
    const r = this.radius * near;
    return out.set(r * Math.cos(angle), r * Math.sin(angle), s * this.length);
  }
}

/** A symbol with its place at every time. */
export interface Symbol {
  node: Group;
  show(motion: Motion): void;
}

export function symbol(load: Load, size: number, motion: Motion): Symbol {
  return load.ends ? between(load, size, motion) : about(load, size);
}

function between(load: Load, size: number, motion: Motion): Symbol {
  const node = new Group();
  const ends = load.ends as NonNullable<Load["ends"]>;
  const a = motion.world(...ends[0], new Vector3());
  const b = motion.world(...ends[1], new Vector3());
  const first = Math.max(a.distanceTo(b), 0.05 * size);
  const look = material(load.color);
  const along = ALONG[load.symbol] ?? ALONG.strut;
  along(node, size, first, look);
  const aside = new Vector3();
  const span = new Vector3();
  const turn = new Quaternion();
  const show = (now: Motion) => {
    now.world(...ends[0], a);
    now.world(...ends[1], b);
    span.subVectors(b, a);
    const length = Math.max(span.length(), 1e-6 * size);
    turn.setFromUnitVectors(Z, span.divideScalar(length));
    node.quaternion.copy(turn);
    aside.set(0.085 * size * load.beside, 0, 0).applyQuaternion(turn);
    node.position.copy(a).add(aside);
    node.scale.set(1, 1, length / first);
  };
  return { node, show };
}

/** A spring that is not of the mechanism, from a place along a vector. */
export function freeSpring(size: number, color: Color): { node: Group; span(from: Vector3, along: Vector3): void } {
  const node = new Group();
  const first = 0.5 * size;
  ALONG.coil(node, size, first, material(color));
  const way = new Vector3();
  const span = (from: Vector3, along: Vector3) => {
    const length = Math.max(along.length(), 1e-6 * size);
    node.position.copy(from);
    node.quaternion.setFromUnitVectors(Z, way.copy(along).divideScalar(length));
    node.scale.set(1, 1, length / first);
  };
  return { node, span };
}

type Build = (node: Group, size: number, length: number, look: MeshStandardMaterial) => void;

const ALONG: Record<string, Build> = {
  coil(node, size, length, look) {
    const curve = new Helix(0.032 * size, length);
    add(node, new Mesh(new TubeGeometry(curve, 22 * TURNS, 0.0055 * size, 6), look));
  },
  dashpot(node, size, length, look) {
    bar(node, 0.03 * size, 0.12 * length, 0.62 * length, look);
    bar(node, 0.0095 * size, 0, length, material([150, 156, 163]));
  },
  motor(node, size, length, look) {
    const block = new Mesh(BOX, look);
    block.scale.set(0.055 * size, 0.055 * size, 0.5 * length);
    block.position.z = 0.33 * length;
    add(node, block);
    bar(node, 0.012 * size, 0, length, material([150, 156, 163]));
  },
  strut(node, size, length, look) {
    bar(node, 0.012 * size, 0, length, look);
  },
};

function bar(node: Group, radius: number, from: number, to: number, look: MeshStandardMaterial): void {
  const made = new Mesh(SHAFT, look);
  made.scale.set(radius, radius, to - from);
  made.position.z = from;
  add(node, made);
}

function add(node: Group, mesh: Mesh): void {
  mesh.castShadow = true;
  node.add(mesh);
}

function about(load: Load, size: number): Symbol {
  const node = new Group();
  const inner = new Group();
  const axes = load.axes as number[];
  const m = new Matrix4().set(
    axes[0], axes[1], axes[2], 0, axes[3], axes[4], axes[5], 0, axes[6], axes[7], axes[8], 0, 0, 0, 0, 1,
  );
  inner.quaternion.setFromRotationMatrix(m);
  inner.position.set(...(load.place as [number, number, number]));
  const lifted = new Group();
  lifted.position.z = (0.075 + 0.035 * load.beside) * size;
  (ABOUT[load.symbol] ?? ABOUT.strut)(lifted, size, 0, material(load.color));
  inner.add(lifted);
  node.add(inner);
  const body = load.body as number;
  const show = (now: Motion) => {
    node.position.copy(now.places[body]);
    node.quaternion.copy(now.turns[body]);
  };
  return { node, show };
}

const ABOUT: Record<string, Build> = {
  coil(node, size, _, look) {
    const points = Array.from({ length: 90 }, (_x, k) => {
      const angle = (k / 89) * 6 * Math.PI;
      const r = (0.016 + (0.05 * k) / 89) * size;
      return new Vector3(r * Math.cos(angle), r * Math.sin(angle), 0);
    });
    const curve = new CatmullRomCurve3(points);
    add(node, new Mesh(new TubeGeometry(curve, 180, 0.0045 * size, 6), look));
  },
  dashpot(node, size, _, look) {
    const disc = new Mesh(PILLAR, look);
    disc.scale.set(0.05 * size, 0.05 * size, 0.022 * size);
    add(node, disc);
  },
  motor(node, size, _, look) {
    const arc = 1.6 * Math.PI;
    add(node, new Mesh(new TorusGeometry(0.062 * size, 0.008 * size, 10, 48, arc), look));
    const head = new Mesh(CONE, look);
    head.scale.set(0.02 * size, 0.02 * size, 0.045 * size);
    head.position.set(0.062 * size * Math.cos(arc), 0.062 * size * Math.sin(arc), 0);
    head.quaternion.setFromUnitVectors(Z, new Vector3(-Math.sin(arc), Math.cos(arc), 0));
    add(node, head);
  },
  strut(node, size, _, look) {
    add(node, new Mesh(new TorusGeometry(0.055 * size, 0.006 * size, 8, 48), look));
  },
};
