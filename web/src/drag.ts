// A body drawn by hand: a force like that of a spring from the body to the pointer, which is drawn.
import { Plane, Raycaster, Vector2, Vector3 } from "three";
import type { Cameras } from "./cameras";
import type { Clock } from "./clock";
import { digits } from "./dom";
import { freeSpring } from "./loads";
import type { Color, Dragged } from "./scene";
import type { Simulation } from "./simulation";
import type { Stage } from "./stage";

const COLOR: Color = [230, 140, 20];

export class Drag {
  /** The force [N]; null while nothing is held. */
  force: Vector3 | null = null;
  private held: Dragged["bodies"][number] | null = null;
  private readonly spring: ReturnType<typeof freeSpring>;
  private readonly plane = new Plane();
  private readonly ray = new Raycaster();
  private readonly target = new Vector3();
  private readonly before = new Vector3();
  private beforeTime = -1;

  constructor(
    private readonly stage: Stage,
    private readonly cameras: Cameras,
    private readonly simulation: Simulation,
    private readonly clock: Clock,
    private readonly canvas: HTMLCanvasElement,
    private readonly how: Dragged,
  ) {
    this.spring = freeSpring(stage.scene.view.size, COLOR);
    this.spring.node.visible = false;
    stage.world.add(this.spring.node);
    stage.labels.add(
      {
        layer: "",
        text: () => (this.force ? `${digits(this.force.length(), 3)} N` : ""),
        place: (out) => out.copy(this.target),
      },
      "drag",
    );
    const pane = canvas.parentElement as HTMLElement;
    // before the controls of the camera hear of it
    pane.addEventListener("pointerdown", (event) => this.grab(event), true);
    pane.addEventListener("pointermove", (event) => this.move(event), true);
    for (const name of ["pointerup", "pointercancel"] as const)
      pane.addEventListener(name, () => this.release(), true);
  }

  /** Takes hold of a body by its number, and draws it to a place; for tests and keys. */
  pull(body: number, to: Vector3): void {
    const one = this.how.bodies.find((x) => x.body === body);
    if (!one) throw new Error("this body cannot be dragged");
    this.hold(one);
    this.target.copy(to);
  }

  release(): void {
    if (!this.held) return;
    this.simulation.drag(this.held.inputs, null);
    this.held = this.force = null;
    this.simulation.isHeld = false;
    this.cameras.controls.enabled = true;
    this.spring.node.visible = false;
    this.stage.isDirty = true;
  }

  /** At every picture: the force where the body is now. */
  frame(): void {
    if (!this.held) return;
    const { motion } = this.stage;
    const { stiffness, damping } = this.how;
    const now = motion.world(this.held.body, this.held.place, new Vector3());
    const seconds = this.clock.time - this.beforeTime;
    const speed = new Vector3();
    if (this.beforeTime >= 0 && seconds > 0) speed.subVectors(now, this.before).divideScalar(seconds);
    this.before.copy(now);
    this.beforeTime = this.clock.time;
    const way = new Vector3().subVectors(this.target, now);
    this.force = way.clone().multiplyScalar(stiffness).addScaledVector(speed, -damping);
    this.simulation.drag(this.held.inputs, this.force.toArray());
    this.spring.span(now, way);
    this.spring.node.visible = true;
    this.stage.isDirty = true;
  }

  private hold(one: Dragged["bodies"][number]): void {
    this.held = one;
    this.beforeTime = -1;
    this.simulation.isHeld = true;
    this.cameras.controls.enabled = false;
    if (!this.clock.playing) this.clock.setPlaying(true);
    if (this.clock.time < this.clock.end) this.clock.seek(this.clock.end);
  }

  private grab(event: PointerEvent): void {
    if (event.target !== this.canvas || event.button !== 0) return;
    this.aim(event);
    const body = this.stage.bodyAt(this.ray);
    const one = this.how.bodies.find((x) => x.body === body);
    if (!one) return;
    event.stopPropagation();
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.stage.motion.world(one.body, one.place, new Vector3());
    this.plane.setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new Vector3()), at);
    this.hold(one);
    this.ray.ray.intersectPlane(this.plane, this.target);
  }

  private move(event: PointerEvent): void {
    if (!this.held) return;
    event.stopPropagation();
    this.aim(event);
    this.ray.ray.intersectPlane(this.plane, this.target);
  }

  private aim(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1,
      1 - (2 * (event.clientY - box.top)) / box.height,
    );
    this.ray.setFromCamera(at, this.stage.camera);
  }
}
