// The camera: where a scene says it should be, presets, a body to follow, hand and keys.
import { Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Stage } from "./stage";

export const PRESETS = ["start", "front", "side", "top", "oblique"] as const;
export type Preset = (typeof PRESETS)[number];

const MARGIN = 1.12;
/** Of half the picture: how far from its middle bodies of a mechanism that simulates may be. */
const WITHIN = 0.75;

export class Cameras {
  readonly controls: OrbitControls;
  follows = -1;
  /** Called with the body that the camera goes with, and −1. */
  told: (body: number) => void = () => {};
  private readonly up: Vector3;
  private readonly home = new Vector3();
  private readonly before = new Vector3();
  private isFirst = true;

  constructor(
    private readonly stage: Stage,
    canvas: HTMLCanvasElement,
  ) {
    const { view } = stage.scene;
    this.up = new Vector3(...view.up);
    stage.camera.up.copy(this.up);
    this.controls = new OrbitControls(stage.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.minDistance = 0.05 * view.size;
    this.controls.maxDistance = 40 * this.reach();
    this.controls.addEventListener("change", () => {
      stage.isDirty = true;
    });
  }

  /** Called with the size of the pane: the first time the camera takes its place. */
  fitted(): void {
    const { view } = this.stage.scene;
    if (this.isFirst && view.follow) this.home.copy(this.stage.motion.places[view.follow.body]);
    if (this.isFirst) this.preset("start");
    this.isFirst = false;
  }

  preset(name: Preset): void {
    const { view } = this.stage.scene;
    const target = new Vector3(...view.target);
    let away = new Vector3(...view.position).sub(target);
    if (name === "start") away.multiplyScalar(this.stepBack());
    else away = this.direction(name).multiplyScalar(this.distance());
    const { places } = this.stage.motion;
    if (view.follow) target.add(places[view.follow.body]).sub(this.home);
    this.follow(view.follow?.body ?? -1);
    this.controls.target.copy(target);
    this.stage.camera.position.copy(target).add(away);
    this.controls.update();
    // other lengths and assembly modes may be beyond what the scene was made for
    for (let k = 0; this.stage.scene.live && !view.follow && this.isBeyond() && k < 16; k++) {
      this.stage.camera.position.copy(target).add(away.multiplyScalar(1.15));
      this.controls.update();
    }
    this.stage.isDirty = true;
  }

  /** The camera goes with a body; −1: with none. */
  follow(body: number): void {
    this.follows = body;
    this.told(body);
    if (body >= 0) this.before.copy(this.stage.motion.places[body]);
  }

  /** After the bodies moved. */
  moved(): void {
    if (this.follows < 0) return;
    const now = this.stage.motion.places[this.follows];
    const step = this.before.sub(now).negate();
    this.controls.target.add(step);
    this.stage.camera.position.add(step);
    this.before.copy(now);
    this.controls.update();
  }

  /** Turns and zooms by keys: right and up in radians, nearer as a factor. */
  turn(right: number, up: number, nearer = 1): void {
    const { camera } = this.stage;
    const away = camera.position.clone().sub(this.controls.target).multiplyScalar(nearer);
    away.applyAxisAngle(this.up, right);
    const side = new Vector3().crossVectors(this.up, away).normalize();
    const lifted = away.clone().applyAxisAngle(side, -up);
    if (Math.abs(lifted.clone().normalize().dot(this.up)) < 0.995) away.copy(lifted);
    camera.position.copy(this.controls.target).add(away);
    this.controls.update();
    this.stage.isDirty = true;
  }

  /** Whether the middle of a body is out of the picture, or nearly. */
  private isBeyond(): boolean {
    const { scene, motion, camera } = this.stage;
    camera.updateMatrixWorld();
    return scene.bodies.some((body, k) => {
      const at = motion.world(k, body.label ?? [0, 0, 0], new Vector3()).project(camera);
      return !body.ground && Math.max(Math.abs(at.x), Math.abs(at.y)) > WITHIN;
    });
  }

  /** On a pane narrower than the scene's camera was made for: how much farther away. */
  private stepBack(): number {
    return Math.max(1, this.stage.scene.view.aspect / this.stage.camera.aspect);
  }

  /** Half the diagonal of the space that the motion takes. */
  private reach(): number {
    const { low, high } = this.stage.scene.view;
    return new Vector3(...high).sub(new Vector3(...low)).length() / 2 || 1;
  }

  private distance(): number {
    const { view } = this.stage.scene;
    const narrow = Math.min(1, this.stage.camera.aspect);
    return (MARGIN * (view.follow?.size ?? this.reach())) / Math.sin(view.angle / 2) / narrow;
  }

  private direction(name: Preset): Vector3 {
    const right = new Vector3(1, 0, 0);
    if (Math.abs(this.up.x) > 0.9) right.set(0, 1, 0);
    right.addScaledVector(this.up, -right.dot(this.up)).normalize();
    const front = new Vector3().crossVectors(right, this.up);
    if (name === "front") return front;
    if (name === "side") return right;
    if (name === "top") return this.up.clone().addScaledVector(front, 0.001).normalize();
    return front.add(right.multiplyScalar(0.7)).addScaledVector(this.up, 0.6).normalize();
  }
}
