// What stands on the picture: legend, scales, what is shown, where one looks from.
import type { Vector3 } from "three";
import type { Cameras } from "./cameras";
import { PRESETS } from "./cameras";
import { checkbox, css, el, select } from "./dom";
import { roundNumber } from "./ground";
import type { Color, Scene } from "./scene";
import type { Stage } from "./stage";

/** What colors and symbols mean: only what occurs. */
export function legend(scene: Scene, isOpen: boolean): HTMLDetailsElement | null {
  const rows: HTMLElement[] = [];
  const row = (shape: string, color: Color, text: string) => {
    const swatch = el("i", { class: shape });
    swatch.style.setProperty("--c", css(color));
    rows.push(el("li", {}, swatch, el("span", { text })));
  };
  const once = new Set<string>();
  for (const joint of scene.joints)
    if (!once.has(joint.type) && scene.bodies.some((b) => b.pieces.some((p) => p.joint === joint.name))) {
      once.add(joint.type);
      row("joint", joint.color, `${joint.type} joint`);
    }
  const loads = new Set<string>();
  for (const load of scene.loads)
    if (!loads.has(load.kind) && !scene.joints.some((x) => x.name === load.name)) {
      loads.add(load.kind);
      row(load.symbol, load.color, load.kind);
    }
  if (scene.view.supports.length)
    row("ground", scene.bodies.find((x) => x.ground)?.color ?? [128, 134, 142], "ground");
  if (scene.forces.length) row("arrow", scene.arrows.forceColor, "force of a joint on its successor");
  for (const state of scene.states) if (state.occurs) row("dot", state.color, `contact: ${state.word}`);
  if (scene.contacts.length && scene.arrows.force > 0) row("arrow", [120, 126, 133], "contact force");
  if (hasMoments(scene)) row("arrow two", scene.arrows.momentColor, "moment");
  if (!rows.length) return null;
  const made = el("details", { class: "legend" }, el("summary", { text: "Legend" }), el("ul", {}, ...rows));
  made.open = isOpen;
  return made;
}

function hasMoments(scene: Scene): boolean {
  return scene.contacts.some((x) => x.moments) || (scene.live?.contacts.some((x) => x.turns) ?? false);
}

/** Bars that say how long a meter, and how large a newton and a newton meter are in the picture. */
export class Scales {
  readonly node = el("div", { class: "scales" });
  private readonly length = bar("length");
  private readonly force = bar("force");
  private readonly moment = bar("force");

  constructor(private readonly stage: Stage) {
    this.node.append(this.length.node);
    const { scene } = stage;
    const { force, moment, momentColor } = scene.arrows;
    if (force > 0 && (scene.forces.length || scene.contacts.length)) this.node.append(this.force.node);
    if (moment > 0 && hasMoments(scene)) this.node.append(this.moment.node);
    this.moment.node.style.setProperty("--hit", css(momentColor));
  }

  /** After the camera moved: `height` of the pane in pixels. */
  tell(target: Vector3, height: number): void {
    const { camera, scene, arrowFactor } = this.stage;
    const far = target.distanceTo(camera.position);
    const pixels = height / (2 * Math.tan(scene.view.angle / 2) * Math.max(far, 1e-12)); // of a meter
    const meters = roundNumber(110 / pixels);
    this.length.set(meters * pixels, withPrefix(meters, "m"));
    const arrow = (one: ReturnType<typeof bar>, length: number, unit: string) => {
      if (!(length > 0) || !Number.isFinite(length)) return;
      const amount = roundNumber(110 / length);
      one.set(amount * length, withPrefix(amount, unit));
    };
    arrow(this.force, scene.arrows.force * arrowFactor * pixels, "N");
    arrow(this.moment, scene.arrows.moment * arrowFactor * pixels, "N·m");
  }
}

function withPrefix(x: number, unit: string): string {
  const steps: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
  const [size, prefix] = steps.find(([s]) => x >= s * (1 - 1e-9)) ?? [1e-9, "n"];
  return `${+(x / size).toPrecision(3)} ${prefix}${unit}`;
}

function bar(kind: string): { node: HTMLElement; set(pixels: number, text: string): void } {
  const line = el("i", { class: kind });
  const text = el("span", {});
  const node = el("div", { class: "scale" }, line, text);
  let last = "";
  return {
    node,
    set(pixels, words) {
      const now = `${pixels.toFixed(0)} ${words}`;
      if (now === last) return;
      last = now;
      line.style.width = `${pixels.toFixed(0)}px`;
      text.textContent = words;
    },
  };
}

/** Camera, a body to follow, layers, size of arrows, traces. */
export function viewMenu(stage: Stage, cameras: Cameras): HTMLDetailsElement {
  const { scene } = stage;
  const box = el("details", { class: "menu" }, el("summary", { text: "View" }));
  const body = el("div", { class: "menu-body" });
  const presets = el("div", { class: "presets", attributes: { role: "group", "aria-label": "Camera" } });
  PRESETS.forEach((name, k) => {
    presets.append(
      el("button", {
        class: "text",
        text: name,
        title: `Look from: ${name} (${k + 1})`,
        attributes: { type: "button" },
        on: { click: () => cameras.preset(name) },
      }),
    );
  });
  const moving = scene.bodies.map((x, k) => [x, k] as const).filter(([x]) => !x.ground && x.label);
  const bodies = moving.map(([x, k]): [string, string] => [`${k}`, x.name]);
  const follow = select("Follow a body", [["-1", "follow: nothing"], ...bodies], "-1", (value) =>
    cameras.follow(+value),
  );
  cameras.told = (k) => {
    follow.value = `${k}`;
  };
  const trace = select("Trace a body", [["", "trace a body …"], ...bodies], "", (value) => {
    if (value) {
      const one = scene.bodies[+value];
      stage.setLayer("traces", true);
      stage.addTrace(one.name, +value, one.label ?? [0, 0, 0]);
    }
    trace.value = "";
  });
  body.append(presets, follow, trace);
  for (const [name, layer] of stage.layers)
    body.append(checkbox(layer.title, layer.on, (on) => stage.setLayer(name, on)));
  if (scene.forces.length || scene.contacts.length) {
    const range = el("input", {
      attributes: { type: "range", min: "-1", max: "1", step: "0.05", value: "0", "aria-label": "Length of arrows" },
      on: {
        input: () => {
          stage.arrowFactor = 10 ** +range.value;
          stage.show(stage.lastTime);
        },
      },
    });
    body.append(el("label", { class: "check wide" }, el("span", { text: "length of arrows" }), range));
  }
  box.append(body);
  return box;
}
