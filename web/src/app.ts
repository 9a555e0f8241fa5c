// The whole view of a scene in an element: picture, curves, time line, and what joins them.
import { Vector3, type WebGLRenderer } from "three";
import { RecordedActing } from "./acting";
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
import { eventList, LiveEvents, Transport } from "./transport";

const NARROW = 620; // pixels
const REST = 400; // milliseconds after which nothing moves

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
  /** How many pictures were begun, and are done. */
  pictures(): { begun: number; done: number };
  camera(): { position: number[]; target: number[]; aspect: number };
  place(body: string): number[];
  /** Where the middle of a body is in the picture, −1 to 1 to the right and upwards. */
  seen(body: string): [number, number];
  /** At the time shown: the force of a joint [N]; force [N] and state of a place of contact. */
  force(k: number): number[];
  contact(k: number): { point: number[]; force: number[]; state: string };
  /** Of a page that simulates: its values, its last state, how it stands; otherwise null. */
  simulation(): {
    begin(parameters: Record<string, number>, start?: Record<string, number>, mode?: number): void;
    setInput(name: string, value: number): void;
    values(name: string): { t: number[]; values: number[] };
    /** Of the run that goes on, where they are not those of the module. */
    parameters: Record<string, number>;
    /** The assembly mode of the run that goes on, and how many there are to choose from. */
    mode: number;
    modes: number;
    status: string;
    message: string;
    delay: number;
  } | null;
}

/** What stays when another scene takes the place of one. */
export interface Kept {
  canvas: HTMLCanvasElement;
  renderer: WebGLRenderer;
  camera: number[];
  target: number[];
  time: number;
  playing: boolean;
  speed: number;
  chosen: string[];
  known: string[];
  layers: [string, boolean][];
  isDark: boolean;
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
  private readonly happened: LiveEvents | null;
  private refreshed = 0;
  private isChartsTurn = false;
  private readonly shownRows = ["", ""];
  private drawnAt = 0;
  private isFine = false;
  private readonly canvas: HTMLCanvasElement;
  private readonly ended = new AbortController();
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
    kept: Kept | null = null,
  ) {
    root.classList.add("lia");
    this.canvas = kept?.canvas ?? el("canvas", { attributes: { tabindex: "0", role: "img" } });
    const names = scene.bodies.filter((x) => !x.ground).map((x) => x.name);
    const few = names.length > 12 ? `${names.length} bodies` : names.join(", ");
    this.canvas.setAttribute(
      "aria-label",
      `3D picture of ${scene.title}: ${few}. Arrow keys turn it, plus and minus zoom.`,
    );
    const motion = simulation?.motion ?? new RecordedMotion(scene, bytes);
    const acting = simulation?.acting ?? new RecordedActing(scene, bytes);
    this.stage = new Stage(scene, bytes, this.canvas, motion, acting, kept?.renderer);
    const { times } = motion;
    this.clock = new Clock(times[0], times[times.length - 1], scene.speed);
    this.clock.isLive = simulation !== null;
    this.cameras = new Cameras(this.stage, this.canvas);
    this.charts = new Charts(scene, simulation?.source ?? recorded(scene, bytes), this.clock);
    this.transport = new Transport(scene, this.clock, motion);
    this.controls = simulation && new Controls(simulation, this.clock, (values) => this.stage.vary(values));
    this.happened = simulation && new LiveEvents(scene, this.clock);
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
    this.watchTheme(kept);
    this.watchKeys();
    this.controls?.byAddress(location.hash);
    addEventListener("hashchange", () => this.controls?.byAddress(location.hash), { signal: this.ended.signal });
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(this.pane);
    this.ended.signal.addEventListener("abort", () => sizes.disconnect());
    this.resize();
    if (kept) this.takeUp(kept);
    requestAnimationFrame((now) => this.frame(now));
  }

  /** Ends this view; another one on the same element takes up what it returns. */
  leave(): Kept {
    const { canvas, clock, stage, cameras, charts } = this;
    this.ended.abort();
    cameras.controls.dispose();
    stage.dispose();
    this.root.replaceChildren();
    return {
      canvas,
      renderer: stage.renderer,
      camera: stage.camera.position.toArray(),
      target: cameras.controls.target.toArray(),
      time: clock.time,
      playing: clock.playing,
      speed: clock.speed,
      chosen: charts.names(),
      known: charts.source.columns.map((x) => x.name),
      layers: [...stage.layers].map(([name, layer]) => [name, layer.on]),
      isDark: this.isDark,
    };
  }

  private takeUp(kept: Kept): void {
    for (const [name, on] of kept.layers) if (this.stage.layers.has(name)) this.stage.setLayer(name, on);
    this.cameras.controls.target.fromArray(kept.target);
    this.stage.camera.position.fromArray(kept.camera);
    this.cameras.controls.update();
    this.charts.chooseAll(kept.chosen, kept.known);
    this.clock.take(kept);
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
      pictures: () => ({ begun: stage.pacing.begun, done: stage.pacing.done }),
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
      force: (k) => stage.acting.force(k, stage.motion.row, new Vector3()).toArray(),
      contact: (k) => {
        const { acting, motion } = stage;
        const { row } = motion;
        return {
          point: acting.point(k, row, new Vector3()).toArray(),
          force: acting.contactForce(k, row, new Vector3()).toArray(),
          state: scene.states[acting.isHit(k, row) ? 4 : acting.state(k, row)].word,
        };
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
      button("help", "Keys, accuracy, licences", () => this.showHelp(), "?"),
    );
    const isWide = window.matchMedia("(min-width: 900px)").matches;
    const key = legend(scene, isWide);
    this.pane.append(this.canvas, this.stage.labels.node);
    const menu = viewMenu(this.stage, this.cameras);
    if (key) {
      this.pane.append(key);
      // on a narrow picture there is room for one of the two
      const alone = (one: HTMLDetailsElement, other: HTMLDetailsElement) => () => {
        if (one.open && this.width < NARROW) other.open = false;
      };
      key.addEventListener("toggle", alone(key, menu));
      menu.addEventListener("toggle", alone(menu, key));
    }
    this.pane.append(menu, this.scales.node);
    const side = el("aside", { class: "side", attributes: { "aria-label": "Curves and events" } });
    if (this.controls) side.append(this.controls.node);
    side.append(this.charts.node);
    const events = eventList(scene, this.clock);
    if (events) side.append(events);
    if (this.happened) side.append(this.happened.node);
    if (scene.about) side.append(drawer(scene.about));
    this.root.append(head, this.pane, this.transport.node, side, this.help);
  }

  private frame(now: number): void {
    if (this.ended.signal.aborted) return;
    const seconds = Math.min((now - (this.before || now)) / 1000, 0.25);
    this.before = now;
    this.clock.tick(seconds);
    if (this.simulation) this.simulate(this.simulation, now);
    if (this.stage.pacing.isFree() && this.width > 0) this.draw(now);
    requestAnimationFrame((later) => this.frame(later));
  }

  /** The next picture, where something changed; where pictures are computed one with smooth edges at rest. */
  private draw(now: number): void {
    const { stage, width, height } = this;
    const isFine = stage.isPlain && !stage.isDirty && !this.isFine && now - this.drawnAt > REST;
    if (!stage.isDirty && !isFine) return;
    if (isFine !== this.isFine) stage.resize(width, height, isFine);
    this.isFine = isFine;
    this.drawnAt = now;
    this.scales.tell(this.cameras.controls.target, height);
    stage.render(width, height);
  }

  /** Asks for more of the run, and shows what came. */
  private simulate(simulation: Simulation, now: number): void {
    this.drag?.frame();
    simulation.frame(this.clock);
    const { motion, acting } = simulation;
    const { times } = motion;
    acting.speed = this.clock.speed;
    this.clock.begin = times[0];
    this.clock.end = times[times.length - 1];
    if (simulation.isFast && this.clock.playing) this.clock.time = this.clock.end;
    if (this.clock.time > this.clock.end) this.clock.time = this.clock.end;
    // of a run that fails at its start there is nothing to show, nor is the one before it
    const isFailed = simulation.status?.status === "failed";
    if (now - this.refreshed < 100 || (motion.count < 2 && !isFailed)) return;
    this.refreshed = now;
    this.isChartsTurn = !this.isChartsTurn;
    // at rest nothing is drawn again
    const rows = `${simulation.serial} ${motion.count} ${this.clock.end} ${simulation.status?.status}`;
    const turn = this.isChartsTurn ? 1 : 0;
    const hasMore = this.shownRows[turn] !== rows;
    this.shownRows[turn] = rows;
    if (this.isChartsTurn) {
      if (hasMore) this.charts.refresh();
    } else {
      if (hasMore) this.stage.refreshTraces();
      simulation.refreshEvents(this.clock.begin, this.clock.end);
      this.transport.refreshEvents();
      this.happened?.refresh();
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

  private watchTheme(kept: Kept | null): void {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.setDark(dark.matches), { signal: this.ended.signal });
    this.setDark(kept?.isDark ?? dark.matches);
  }

  private setDark(isDark: boolean): void {
    this.isDark = isDark;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    this.stage.setDark(isDark);
    this.charts.setDark(isDark);
  }

  private watchKeys(): void {
    const heard = (event: KeyboardEvent) => {
      const at = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && (at as HTMLInputElement).type !== "range") return;
      if (at === this.canvas && this.turned(event.key)) event.preventDefault();
      else if (this.did(event.key, at)) event.preventDefault();
    };
    document.addEventListener("keydown", heard, { signal: this.ended.signal });
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
      "?": () => this.showHelp(),
      Home: () => clock.seek(clock.begin),
      End: () => clock.seek(clock.end),
    };
    PRESETS.forEach((name, k) => {
      acts[`${k + 1}`] = () => this.cameras.preset(name);
    });
    if (!acts[key] || (key === " " && /^(BUTTON|SUMMARY)$/.test(at.tagName))) return false;
    // a slider of a parameter has its own beginning and end
    if (at.tagName === "INPUT" && !at.classList.contains("slider") && /^(Home|End)$/.test(key)) return false;
    acts[key]();
    return true;
  }

  private savePicture(): void {
    this.stage.render(this.width, this.height);
    const whole = document.createElement("canvas");
    const drawn = this.stage.renderer.domElement;
    whole.width = drawn.width;
    whole.height = drawn.height;
    const pen = whole.getContext("2d") as CanvasRenderingContext2D;
    pen.fillStyle = getComputedStyle(this.pane).backgroundColor;
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.drawImage(drawn, 0, 0);
    whole.toBlob((blob) => blob && download(blob, fileName(this.scene.title, ".png")));
  }

  /** The button has the focus; as an attribute this is refused, with a warning, in frames. */
  private showHelp(): void {
    this.help.showModal();
    this.help.querySelector("button")?.focus();
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
        text: this.simulation
          ? "States are those of the simulation, to its tolerances; between them the picture is interpolated. Curves show them as they are."
          : `Bodies are drawn to ${digits(poses.error.place, 2)} m and ${digits(poses.error.angle, 2)} rad of ` +
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
    begin: (parameters, start = {}, mode = simulation.mode) => controls.set(parameters, start, mode),
    setInput: (name, value) => controls.setInput(name, value),
    values: (name) => ({ t: [...simulation.source.times], values: [...simulation.source.values(name)] }),
    parameters: simulation.parameters,
    mode: simulation.mode,
    modes: simulation.scene.modes?.length ?? 0,
    status: simulation.status?.status ?? "begins",
    message: simulation.status?.message ?? "",
    delay: simulation.delay,
  };
}
