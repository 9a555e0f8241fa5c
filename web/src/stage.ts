// The 3D picture of a scene: bodies, joints, symbols, contacts, forces, at any time of the run.
import {
  BufferGeometry,
  CatmullRomCurve3,
  type Color as Tint,
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  MeshBasicMaterial,
  type MeshStandardMaterial,
  type Object3D,
  PerspectiveCamera,
  type Raycaster,
  Scene as World,
  TubeGeometry,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import type { Acting } from "./acting";
import { Arrows, Dots } from "./arrows";
import { digits } from "./dom";
import { Grid, supports, triad } from "./ground";
import { Labels } from "./labels";
import { type Symbol, symbol } from "./loads";
import type { Motion } from "./motion";
import { isSoftware, Pacing } from "./pacing";
import { type Table, unpacked } from "./packed";
import type { Color, Piece, Scene, Vec3 } from "./scene";
import { BALL, put, solid, tint } from "./solids";
import { variation } from "./variations";

const SWOLLEN = 1.7; // a dot at an impact
const TRACES = ["#c8323c", "#1f7a8c", "#8a5a00", "#6a4c93", "#2f7d32"];
const MOST_JOINT_NAMES = 24;
/** What of the ground is lighter than this would dazzle on a dark page, and is dimmed there. */
const LIGHT = 150;
const DIMMED = 0.16;

export interface Layer {
  title: string;
  on: boolean;
  nodes: Object3D[];
}

export class Stage {
  readonly world = new World();
  readonly camera: PerspectiveCamera;
  readonly renderer: WebGLRenderer;
  readonly pacing: Pacing;
  /** Pictures are computed: without smooth edges and shadows while things move. */
  readonly isPlain: boolean;
  readonly labels = new Labels();
  readonly layers = new Map<string, Layer>();
  readonly grid: Grid;
  readonly traced = new Set<string>();
  arrowFactor = 1;
  lastTime: number;
  isDirty = true;
  private readonly bodies: Group[] = [];
  private readonly dark: { look: MeshStandardMaterial; color: Color }[] = [];
  private readonly floors: { look: MeshStandardMaterial; color: Color }[] = [];
  private readonly symbols: Symbol[] = [];
  private readonly dots: Dots | null = null;
  private readonly touchArrows: Arrows | null = null;
  private readonly forceArrows: Arrows | null = null;
  private readonly struck: { look: MeshStandardMaterial; color: Tint; hits: Table }[] = [];
  private readonly meshes: { mesh: Mesh; piece: Piece }[] = [];
  private readonly varying: ((values: Record<string, number>) => void)[];
  private readonly ways: { mesh: Mesh; dot: Mesh; body: number; place: Vec3 }[] = [];
  private stands: Object3D | null = null;
  private readonly a = new Vector3();
  private readonly b = new Vector3();

  constructor(
    readonly scene: Scene,
    private readonly bytes: Uint8Array,
    canvas: HTMLCanvasElement,
    readonly motion: Motion,
    readonly acting: Acting,
    renderer?: WebGLRenderer,
  ) {
    this.lastTime = this.motion.times[0];
    // where pictures are computed, shadows and smooth edges would take most of the time of a simulation
    this.isPlain = scene.live !== undefined && isSoftware();
    const { isPlain } = this;
    this.renderer = renderer ?? rendererOf(canvas, isPlain);
    const isAside = this.renderer.domElement !== canvas;
    this.pacing = new Pacing(this.renderer.getContext() as WebGL2RenderingContext, isAside ? canvas : null);
    this.renderer.shadowMap.enabled = !isPlain;
    const { size, angle } = scene.view;
    this.camera = new PerspectiveCamera((angle * 180) / Math.PI, 1, size / 100, size * 100);
    this.grid = new Grid(scene.view);
    this.addLights();
    this.addGround();
    this.addBodies();
    this.varying = scene.variations ? [variation(scene, bytes, scene.variations)] : [];
    for (const load of scene.loads) {
      const made = symbol(load, size, this.motion);
      this.symbols.push(made);
      this.put("loads", made.node);
    }
    if (scene.contacts.length) {
      this.dots = new Dots(scene.contacts.length);
      this.touchArrows = new Arrows(2 * scene.contacts.length, size);
      this.put("contacts", this.dots.node, this.touchArrows.node);
      this.addContactNames();
    }
    if (scene.forces.length) {
      this.forceArrows = new Arrows(scene.forces.length, size);
      this.put("forces", this.forceArrows.node);
      this.addForceValues();
    }
    for (const trace of scene.traces) this.addTrace(trace.name, trace.body, trace.place);
    this.show(this.motion.times[0]);
  }

  /** A layer that exists, by name, whether its nodes are there or come later. */
  layer(name: string): Layer {
    const known = this.layers.get(name);
    if (known) return known;
    const made = { title: TITLES[name] ?? name, on: this.isOnAtFirst(name), nodes: [] };
    this.layers.set(name, made);
    return made;
  }

  setLayer(name: string, on: boolean): void {
    const layer = this.layer(name);
    layer.on = on;
    for (const node of layer.nodes) node.visible = on;
    this.isDirty = true;
  }

  /** Everything where it is at a time. */
  show(time: number): void {
    const { motion, scene } = this;
    motion.move(time);
    this.lastTime = time;
    this.bodies.forEach((node, k) => {
      node.position.copy(motion.places[k]);
      node.quaternion.copy(motion.turns[k]);
    });
    for (const one of this.symbols) one.show(motion);
    this.showContacts();
    const red = tint(scene.arrows.forceColor);
    scene.forces.forEach((force, k) => {
      motion.world(force.body, force.place, this.a);
      this.acting.force(k, motion.row, this.b).multiplyScalar(this.arrowFactor * scene.arrows.force);
      this.forceArrows?.set(k, this.a, this.b, red);
    });
    this.forceArrows?.done();
    const hot = tint(scene.states[4].color);
    for (const one of this.struck) {
      one.look.color.copy(one.color);
      if (one.hits.at(motion.row, 0)) one.look.color.lerp(hot, 0.67);
    }
    this.isDirty = true;
  }

  /** The way of a point of a body, and the point. */
  addTrace(name: string, body: number, place: Vec3): void {
    const key = `${name} ${body} ${place.join(" ")}`;
    if (this.traced.has(key)) return;
    const { size } = this.scene.view;
    const color = TRACES[this.traced.size % TRACES.length];
    this.traced.add(key);
    const look = new MeshBasicMaterial({ color });
    const way = new Mesh(new BufferGeometry(), look);
    way.frustumCulled = false;
    const dot = new Mesh(BALL, look);
    this.ways.push({ mesh: way, dot, body, place });
    this.put("traces", way);
    this.refreshTraces();
    dot.scale.setScalar(0.02 * size);
    dot.position.set(...place);
    this.bodies[body].add(dot);
    this.layer("traces").nodes.push(dot);
    dot.visible = this.layer("traces").on;
    this.isDirty = true;
  }

  /** The number of the first body that a ray meets; −1: none. */
  bodyAt(ray: Raycaster): number {
    for (const hit of ray.intersectObjects(this.bodies, true)) {
      let node: Object3D | null = hit.object;
      while (node && !this.bodies.includes(node as Group)) node = node.parent;
      const body = this.bodies.indexOf(node as Group);
      if (body >= 0 && !this.scene.bodies[body].ground) return body;
    }
    return -1;
  }

  /** Pieces as they are at other values of parameters. */
  vary(values: Record<string, number>): void {
    for (const one of this.varying) one(values);
    if (this.varying.length) {
      for (const { mesh, piece } of this.meshes) put(mesh, piece);
      for (const { dot, place } of this.ways) dot.position.set(...place);
      this.scene.view.supports.forEach((place, k) => this.stands?.children[k].position.set(...place));
    }
    this.show(this.lastTime);
  }

  /** Ways as far as the motion is known. */
  refreshTraces(): void {
    const radius = 0.0042 * this.scene.view.size;
    for (const { mesh, body, place } of this.ways) {
      const points = this.motion.path(body, place, 700);
      mesh.geometry.dispose();
      if (points.length < 2) mesh.geometry = new BufferGeometry();
      else {
        const parts = Math.min(4 * points.length, 2400);
        mesh.geometry = new TubeGeometry(new CatmullRomCurve3(points), parts, radius, 6);
      }
    }
    this.isDirty = true;
  }

  /** Colors that suit a light or a dark page. */
  setDark(isDark: boolean): void {
    const white = tint([255, 255, 255]);
    for (const { look, color } of this.dark) {
      look.color.copy(tint(color));
      if (isDark) look.color.lerp(white, 0.28);
    }
    for (const { look, color } of this.floors) look.color.copy(tint(color)).multiplyScalar(isDark ? DIMMED : 1);
    this.grid.setInk(isDark ? "#8fa1b3" : "#6f7e8d");
    this.isDirty = true;
  }

  resize(width: number, height: number, isFine = false): void {
    const { renderer } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * (isFine ? 2 : 1);
    const pixels = renderer.getDrawingBufferSize(new Vector2());
    if (pixels.x !== Math.floor(width * ratio) || pixels.y !== Math.floor(height * ratio)) {
      renderer.setPixelRatio(ratio);
      renderer.setSize(width, height, false);
    }
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.isDirty = true;
  }

  render(width: number, height: number): void {
    this.renderer.render(this.world, this.camera);
    this.pacing.drawn();
    this.labels.show(this.camera, width, height, (name) => name === "" || this.layer(name).on);
    this.isDirty = false;
  }

  /** Gives memory of the graphics processor back; the renderer stays. */
  dispose(): void {
    this.world.traverse((x) => {
      if (x instanceof Mesh) (x.geometry as BufferGeometry).dispose();
      else if (x instanceof DirectionalLight) x.dispose();
    });
  }

  private put(layer: string, ...nodes: Object3D[]): void {
    this.world.add(...nodes);
    const known = this.layer(layer);
    known.nodes.push(...nodes);
    for (const node of nodes) node.visible = known.on;
  }

  private isOnAtFirst(name: string): boolean {
    const { look } = this.scene;
    const first: Record<string, boolean> = {
      frames: look.frames,
      names: look.labels,
      "joint names": false,
    };
    return first[name] ?? true;
  }

  private addLights(): void {
    const { size } = this.scene.view;
    const up = new Vector3(...this.scene.view.up);
    const sky = new HemisphereLight(0xffffff, 0xb9c0c8, 1.5);
    sky.position.copy(up);
    const sun = new DirectionalLight(0xffffff, 1.8);
    const target = new Vector3(...this.scene.view.target);
    const eye = new Vector3(...this.scene.view.position).sub(target).normalize();
    const side = new Vector3().crossVectors(up, eye).normalize();
    sun.position.copy(target).addScaledVector(up, 3 * size);
    sun.position.addScaledVector(eye, 1.3 * size).addScaledVector(side, -1.2 * size);
    sun.target.position.copy(target);
    sun.castShadow = this.renderer.shadowMap.enabled;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.bias = -0.0005;
    sun.shadow.normalBias = 0.004 * size;
    const reach = sun.shadow.camera;
    reach.left = reach.bottom = -1.6 * size;
    reach.right = reach.top = 1.6 * size;
    reach.near = 0.1 * size;
    reach.far = 8 * size;
    this.world.add(sky, sun, sun.target);
  }

  private addGround(): void {
    this.put("grid", this.grid.node);
    this.put("world axes", triad(0.22 * this.scene.view.size));
    const { view, bodies } = this.scene;
    if (!view.supports.length) return;
    const ground = bodies.find((x) => x.ground);
    this.stands = supports(view, ground?.color ?? [128, 134, 142]);
    this.put("supports", this.stands);
  }

  private addBodies(): void {
    const { scene, bytes } = this;
    const types = new Map(scene.joints.map((x) => [x.name, x.color]));
    scene.bodies.forEach((body, k) => {
      const node = new Group();
      const joints = new Group();
      const hits = body.struck && unpacked(body.struck, bytes);
      for (const piece of body.pieces) {
        const color = piece.joint ? types.get(piece.joint) : undefined;
        const mesh = solid(piece, bytes, color);
        this.meshes.push({ mesh, piece });
        const look = mesh.material as MeshStandardMaterial;
        if (piece.joint) this.dark.push({ look, color: color ?? piece.color });
        else if (body.ground && Math.min(...piece.color) > LIGHT) this.floors.push({ look, color: piece.color });
        else if (hits) this.struck.push({ look, color: look.color.clone(), hits });
        (piece.joint ? joints : node).add(mesh);
      }
      node.add(joints);
      this.layer("joints").nodes.push(joints);
      this.world.add(node);
      this.bodies.push(node);
      if (body.label) this.addBodyName(k, node);
    });
    if (scene.joints.length <= MOST_JOINT_NAMES)
      for (const joint of scene.joints)
        this.labels.add(
          {
            layer: this.named("joint names"),
            text: () => joint.name,
            place: (out) => this.motion.world(joint.body, joint.place, out),
          },
          "joint",
        );
  }

  private named(layer: string): string {
    this.layer(layer);
    return layer;
  }

  private addBodyName(k: number, node: Group): void {
    const body = this.scene.bodies[k];
    const place = body.label as Vec3;
    const axes = triad(0.16 * this.scene.view.size);
    node.add(axes);
    const frames = this.layer("frames");
    frames.nodes.push(axes);
    axes.visible = frames.on;
    this.labels.add({
      layer: this.named("names"),
      text: () => body.name,
      place: (out) => this.motion.world(k, place, out),
    });
  }

  private addContactNames(): void {
    const { contacts } = this.scene;
    const without = contacts.map((x, k) => [x, k] as const).filter(([x]) => !x.placed);
    if (without.length > 8) return;
    for (const [one, k] of without)
      this.labels.add(
        {
          layer: this.named("contacts"),
          text: () => one.name,
          place: (out) => this.acting.point(k, this.motion.row, out),
        },
        "beside",
      );
  }

  private addForceValues(): void {
    if (this.scene.forces.length > 12) return;
    this.scene.forces.forEach((force, k) => {
      this.labels.add(
        {
          layer: this.named("forces"),
          text: () => `${digits(this.acting.force(k, this.motion.row, this.b).length(), 3)} N`,
          place: (out) => {
            this.acting.force(k, this.motion.row, this.b).multiplyScalar(this.arrowFactor * this.scene.arrows.force);
            return this.motion.world(force.body, force.place, out).add(this.b);
          },
        },
        "force",
      );
    });
  }

  private showContacts(): void {
    const { scene, acting } = this;
    const { row } = this.motion;
    const moment = tint(scene.arrows.momentColor);
    scene.contacts.forEach((one, k) => {
      const isHit = acting.isHit(k, row);
      const color = tint(scene.states[isHit ? 4 : acting.state(k, row)].color);
      acting.point(k, row, this.a);
      this.dots?.set(k, this.a, one.radius * (isHit ? SWOLLEN : 1), color);
      acting.contactForce(k, row, this.b).multiplyScalar(this.arrowFactor * scene.arrows.force);
      this.touchArrows?.set(2 * k, this.a, this.b, color);
      acting.moment(k, row, this.b).multiplyScalar(this.arrowFactor * scene.arrows.moment);
      this.touchArrows?.set(2 * k + 1, this.a, this.b, moment, true);
    });
    this.dots?.done();
    this.touchArrows?.done();
  }

}

/** Draws on a canvas; pictures that are computed are drawn aside of it, without smooth edges. */
function rendererOf(canvas: HTMLCanvasElement, isPlain: boolean): WebGLRenderer {
  const aside = isPlain ? document.createElement("canvas") : canvas;
  return new WebGLRenderer({ canvas: aside, antialias: !isPlain, alpha: true, preserveDrawingBuffer: isPlain });
}

const TITLES: Record<string, string> = {
  loads: "springs, dampers, motors",
  names: "names of bodies",
  "joint names": "names of joints",
  frames: "axes of bodies",
  supports: "ground supports",
};
