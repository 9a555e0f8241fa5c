// The whole view of a scene in an element: picture, curves, time line, and what joins them.
import { Vector3 } from "three";
import { Cameras, PRESETS } from "./cameras";
import { Charts, recorded } from "./charts";
import { Clock } from "./clock";
import { button, digits, download, el, fileName } from "./dom";
import { legend, Scales, viewMenu } from "./panels";
import { Drag } from "./drag";
import { drawer } from "./drawer";
import { Controls } from "./controls";
import { RecordedMotion } from "./motion";
import type { Scene } from "./scene";
import type { Simulation } from "./simulation";
import { Stage } from "./stage";
import { eventList, Transport } from "./transport";

const KEYS: [string, string][] = [
  ["space", "play or pause"],
  [", and .", "one picture back or on"],
  ["n and p", "next or previous event"],
  ["home, end", "beginning, end"],
  ["1 to 5", PRESETS.map((x, k) => `${k + 1} ${x}`).join(", ")],
  ["arrows on the picture", "turn the camera; + and − go nearer and farther"],
  ["d", "light or dark"],
  ["a hand on a body", "of a page that simulates: draws it with a force"],
  ["?", "this page"],
];

/** What a page, a test or a notebook can do with a view. */
export interface View {
  readonly scene: Scene;
  readonly time: number;
  readonly playing: boolean;
  seek(time: number): void;
  play(): void;
  pause(): void;
  choose(column: string, on?: boolean): void;
  table(): string;
  camera(): { position: number[]; target: number[]; aspect: number };
  place(body: string): number[];
  /** Where the middle of a body is in the picture, −1 to 1 to the right and upwards. */
  seen(body: string): [number, number];
  /** Of a page that simulates: its values, its last state, how it stands; otherwise null. */
  simulation(): {
    begin(parameters: Record<string, number>, start?: Record<string, number>): void;
    setInput(name: string, value: number): void;
    values(name: string): { t: number[]; values: number[] };
    /** Of the run that goes on, where they are not those of the module. */
    parameters: Record<string, number>;
    status: string;
    message: string;
    delay: number;
  } | null;
}

export class App {
  readonly clock: Clock;
  readonly stage: Stage;
  private readonly cameras: Cameras;
  private readonly charts: Charts;
  private readonly transport: Transport;
  private readonly scales: Scales;
  private readonly controls: Controls | null;
  private readonly drag: Drag | null;
  private refreshed = 0;
  private readonly canvas = el("canvas", { attributes: { tabindex: "0", role: "img" } });
  private readonly pane = el("main", { class: "view", attributes: { "aria-label": "Picture" } });
  private readonly help: HTMLDialogElement;
  private width = 0;
  private height = 0;
  private before = 0;
  private isDark = false;

  constructor(
    private readonly root: HTMLElement,
    readonly scene: Scene,
    bytes: Uint8Array,
    notices: string,
    readonly simulation: Simulation | null = null,
  ) {
    root.classList.add("lia");
    const names = scene.bodies.filter((x) => !x.ground).map((x) => x.name);
    const few = names.length > 12 ? `${names.length} bodies` : names.join(", ");
    this.canvas.setAttribute(
      "aria-label",
      `3D picture of ${scene.title}: ${few}. Arrow keys turn it, plus and minus zoom.`,
    );
    const motion = simulation?.motion ?? new RecordedMotion(scene, bytes);
    this.stage = new Stage(scene, bytes, this.canvas, motion);
    const { times } = motion;
    this.clock = new Clock(times[0], times[times.length - 1], scene.speed);
    this.clock.isLive = simulation !== null;
    this.cameras = new Cameras(this.stage, this.canvas);
    this.charts = new Charts(scene, simulation?.source ?? recorded(scene, bytes), this.clock);
    this.transport = new Transport(scene, this.clock, motion);
    this.controls = simulation && new Controls(simulation, this.clock, (values) => this.stage.vary(values));
    this.scales = new Scales(this.stage);
    this.help = this.helpDialog(notices);
    this.build();
    this.drag =
      simulation && scene.drag
        ? new Drag(this.stage, this.cameras, simulation, this.clock, this.canvas, scene.drag)
        : null;
    simulation?.onChange((what) => {
      if (what === "begun") this.clock.time = 0;
      if (what !== "failed") this.stage.show(this.clock.time);
    });
    this.clock.onChange(() => {
      this.stage.show(this.clock.time);
      this.cameras.moved();
    });
    this.watchTheme();
    this.watchKeys();
    this.controls?.byAddress(location.hash);
    addEventListener("hashchange", () => this.controls?.byAddress(location.hash));
    new ResizeObserver(() => this.resize()).observe(this.pane);
    this.resize();
    requestAnimationFrame((now) => this.frame(now));
  }

  /** For those outside. */
  handle(): View {
    const { clock, stage, cameras, charts, scene } = this;
    return {
      scene,
      get time() {
        return clock.time;
      },
      get playing() {
        return clock.playing;
      },
      seek: (time) => clock.seek(time),
      play: () => clock.setPlaying(true),
      pause: () => clock.setPlaying(false),
      choose: (column, on = true) => charts.choose(column, on),
      table: () => charts.table(),
      camera: () => ({
        position: stage.camera.position.toArray(),
        target: cameras.controls.target.toArray(),
        aspect: stage.camera.aspect,
      }),
      seen: (body) => {
        const k = scene.bodies.findIndex((x) => x.name === body);
        const at = stage.motion.world(k, scene.bodies[k].label ?? [0, 0, 0], new Vector3());
        at.project(stage.camera);
        return [at.x, at.y];
      },
      simulation: () => simulationHandle(this.simulation, this.controls),
      place: (body) => stage.motion.places[scene.bodies.findIndex((x) => x.name === body)].toArray(),
    };
  }

  private build(): void {
    const { scene } = this;
    const head = el(
      "header",
      { class: "head" },
      el("h1", { text: scene.title, title: scene.title }),
      el("p", { class: "note", text: scene.note }),
      el("span", { class: "gap" }),
      button("picture", "Save the picture as PNG", () => this.savePicture()),
      button("theme", "Light or dark", () => this.setDark(!this.isDark), "d"),
      button("help", "Keys, accuracy, licences", () => this.help.showModal(), "?"),
    );
    const isWide = window.matchMedia("(min-width: 900px)").matches;
    const key = legend(scene, isWide);
    this.pane.append(this.canvas, this.stage.labels.node);
    if (key) this.pane.append(key);
    this.pane.append(viewMenu(this.stage, this.cameras), this.scales.node);
    const side = el("aside", { class: "side", attributes: { "aria-label": "Curves and events" } });
    if (this.controls) side.append(this.controls.node);
    side.append(this.charts.node);
    const events = eventList(scene, this.clock);
    if (events) side.append(events);
    if (scene.about) side.append(drawer(scene.about));
    this.root.append(head, this.pane, this.transport.node, side, this.help);
  }

  private frame(now: number): void {
    const seconds = Math.min((now - (this.before || now)) / 1000, 0.25);
    this.before = now;
    this.clock.tick(seconds);
    if (this.simulation) this.simulate(this.simulation, now);
    if (this.stage.isDirty && this.width > 0) {
      this.scales.tell(this.cameras.controls.target, this.height);
      this.stage.render(this.width, this.height);
    }
    requestAnimationFrame((later) => this.frame(later));
  }

  /** Asks for more of the run, and shows what came. */
  private simulate(simulation: Simulation, now: number): void {
    this.drag?.frame();
    simulation.frame(this.clock);
    const { motion } = simulation;
    const { times } = motion;
    this.clock.begin = times[0];
    this.clock.end = times[times.length - 1];
    if (simulation.isFast && this.clock.playing) this.clock.time = this.clock.end;
    if (this.clock.time > this.clock.end) this.clock.time = this.clock.end;
    if (now - this.refreshed > 200 && motion.count > 1) {
      this.refreshed = now;
      this.charts.refresh();
      this.stage.refreshTraces();
    }
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.pane;
    if (!clientWidth || !clientHeight) return;
    this.width = clientWidth;
    this.height = clientHeight;
    this.stage.resize(clientWidth, clientHeight);
    this.cameras.fitted();
  }

  private watchTheme(): void {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.setDark(dark.matches));
    this.setDark(dark.matches);
  }

  private setDark(isDark: boolean): void {
    this.isDark = isDark;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    this.stage.setDark(isDark);
    this.charts.setDark(isDark);
  }

  private watchKeys(): void {
    document.addEventListener("keydown", (event) => {
      const at = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && (at as HTMLInputElement).type !== "range") return;
      if (at === this.canvas && this.turned(event.key)) event.preventDefault();
      else if (this.did(event.key, at)) event.preventDefault();
    });
  }

  private turned(key: string): boolean {
    const turns: Record<string, [number, number, number]> = {
      ArrowLeft: [-0.1, 0, 1],
      ArrowRight: [0.1, 0, 1],
      ArrowUp: [0, 0.1, 1],
      ArrowDown: [0, -0.1, 1],
      "+": [0, 0, 0.9],
      "=": [0, 0, 0.9],
      "-": [0, 0, 1.1],
    };
    if (!turns[key]) return false;
    this.cameras.turn(...turns[key]);
    return true;
  }

  private did(key: string, at: HTMLElement): boolean {
    const { clock } = this;
    const acts: Record<string, () => void> = {
      " ": () => clock.setPlaying(!clock.playing),
      ",": () => this.transport.step(-1),
      ".": () => this.transport.step(1),
      n: () => this.transport.toEvent(1),
      p: () => this.transport.toEvent(-1),
      d: () => this.setDark(!this.isDark),
      "?": () => this.help.showModal(),
      Home: () => clock.seek(clock.begin),
      End: () => clock.seek(clock.end),
    };
    PRESETS.forEach((name, k) => {
      acts[`${k + 1}`] = () => this.cameras.preset(name);
    });
    if (!acts[key] || (key === " " && /^(BUTTON|SUMMARY)$/.test(at.tagName))) return false;
    acts[key]();
    return true;
  }

  private savePicture(): void {
    this.stage.render(this.width, this.height);
    const whole = document.createElement("canvas");
    whole.width = this.canvas.width;
    whole.height = this.canvas.height;
    const pen = whole.getContext("2d") as CanvasRenderingContext2D;
    pen.fillStyle = getComputedStyle(this.pane).backgroundColor;
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.drawImage(this.canvas, 0, 0);
    whole.toBlob((blob) => blob && download(blob, fileName(this.scene.title, ".png")));
  }

  private helpDialog(notices: string): HTMLDialogElement {
    const { poses, series } = this.scene;
    const keys = el("dl", {});
    for (const [key, does] of KEYS) keys.append(el("dt", { text: key }), el("dd", { text: does }));
    const close = el("button", {
      class: "text",
      text: "Close",
      attributes: { type: "button" },
      on: { click: () => made.close() },
    });
    const made = el(
      "dialog",
      { attributes: { "aria-label": "Keys, accuracy, licences" } },
      el("h2", { text: "Keys" }),
      keys,
      el("h2", { text: "Accuracy" }),
      el("p", {
        text:
          `Bodies are drawn to ${digits(poses.error.place, 2)} m and ${digits(poses.error.angle, 2)} rad of ` +
          `the run, and between pictures by interpolation. Curves are rounded by ${digits(series.error, 2)} ` +
          `of their values; ${Math.min(series.times.shape[0], series.recorded)} of ${series.recorded} recorded instants are shown.`,
      }),
      el("h2", { text: "Licences of what this page contains" }),
      el("pre", { text: notices, attributes: { tabindex: "0" } }),
      close,
    );
    return made;
  }
}

function simulationHandle(simulation: Simulation | null, controls: Controls | null): ReturnType<View["simulation"]> {
  if (!simulation || !controls) return null;
  return {
    begin: (parameters, start = {}) => controls.set(parameters, start),
    setInput: (name, value) => simulation.setInput(name, value),
    values: (name) => ({ t: [...simulation.source.times], values: [...simulation.source.values(name)] }),
    parameters: simulation.parameters,
    status: simulation.status?.status ?? "begins",
    message: simulation.status?.message ?? "",
    delay: simulation.delay,
  };
}
