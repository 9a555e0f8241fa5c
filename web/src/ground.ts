// Ground: a grid below the motion that takes its shadow, supports of joints, the world's axes.
import {
  Color as Tint,
  ConeGeometry,
  DoubleSide,
  Group,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  Quaternion,
  ShaderMaterial,
  ShadowMaterial,
  Vector3,
} from "three";
import type { Scene, Vec3 } from "./scene";
import { BOX, material, SHAFT } from "./solids";

const Z = new Vector3(0, 0, 1);
const AXES = ["#d1495b", "#3b9c6a", "#3d74c4"];

/** The largest of 1, 2, 5 times a power of ten that is not above x. */
export function roundNumber(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * Math.max(...[1, 2, 5].filter((k) => k * power <= x * (1 + 1e-9)));
}

export class Grid {
  readonly node = new Group();
  readonly cell: number;
  private readonly look: ShaderMaterial;

  constructor(view: Scene["view"]) {
    const { size } = view;
    this.cell = roundNumber(size / 2.5);
    this.look = new ShaderMaterial({
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
      uniforms: {
        cell: { value: this.cell },
        reach: { value: 4.5 * size },
        ink: { value: new Tint("#7d8b99") },
      },
      vertexShader: `varying vec2 at; void main() { at = position.xy;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
      fragmentShader: `uniform float cell, reach; uniform vec3 ink; varying vec2 at;
        float lines(vec2 p, float w) { vec2 d = fwidth(p); vec2 a = abs(fract(p - 0.5) - 0.5) / d;
          float l = w - min(min(a.x, a.y), w); return l * (1.0 - smoothstep(0.3, 0.9, max(d.x, d.y))); }
        void main() { float fade = 1.0 - smoothstep(0.25, 1.0, length(at) / reach);
          float strength = max(0.30 * lines(at / cell, 1.0), 0.55 * lines(at / (5.0 * cell), 1.0));
          gl_FragColor = vec4(ink, strength * fade); }`,
    });
    const plane = new PlaneGeometry(9 * size, 9 * size);
    const lines = new Mesh(plane, this.look);
    const shade = new Mesh(plane, new ShadowMaterial({ opacity: 0.16, depthWrite: false }));
    shade.receiveShadow = true;
    lines.renderOrder = -2;
    shade.renderOrder = -1;
    this.node.add(lines, shade);
    const up = new Vector3(...view.up);
    this.node.quaternion.setFromUnitVectors(Z, up);
    const middle = new Vector3(...view.low).add(new Vector3(...view.high)).multiplyScalar(0.5);
    const low = view.floor - 0.12 * size;
    this.node.position.copy(middle).addScaledVector(up, low - middle.dot(up));
  }

  setInk(color: string): void {
    (this.look.uniforms.ink.value as Tint).set(color);
  }
}

/** What holds a joint on the ground: a stand below it with a plate. */
export function supports(view: Scene["view"], color: [number, number, number]): Group {
  const node = new Group();
  const { size } = view;
  const up = new Vector3(...view.up);
  const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), up);
  const look = material(color);
  const stand = new ConeGeometry(0.055 * size, 0.085 * size, 4).translate(0, -0.0425 * size, 0);
  stand.rotateY(Math.PI / 4);
  for (const place of view.supports) {
    const one = new Group();
    const cone = new Mesh(stand, look);
    const plate = new Mesh(BOX, look);
    plate.scale.set(0.125 * size, 0.014 * size, 0.125 * size);
    plate.position.y = -0.09 * size;
    one.add(cone, plate);
    one.position.set(...(place as Vec3));
    one.quaternion.copy(turn);
    for (const mesh of [cone, plate]) mesh.castShadow = true;
    node.add(one);
  }
  return node;
}

/** Three axes: x red, y green, z blue. */
export function triad(length: number): Group {
  const node = new Group();
  AXES.forEach((color, k) => {
    const bar = new Mesh(SHAFT, new MeshBasicMaterial({ color }));
    bar.scale.set(0.02 * length, 0.02 * length, length);
    bar.quaternion.setFromUnitVectors(Z, new Vector3().setComponent(k, 1));
    node.add(bar);
  });
  return node;
}
