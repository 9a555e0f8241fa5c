// What can be changed while a mechanism simulates: parameters, inputs, starts; how the run stands.
import { pretty } from "./charts";
import type { Clock } from "./clock";
import { checkbox, digits, el, select } from "./dom";
import type { Status } from "./engine";
import type { Simulation } from "./simulation";
import { isBeyond } from "./variations";

const MOST = 60; // sliders of a kind

interface Quantity {
  name: string;
  unit: string;
  value: number;
  low?: number | null;
  high?: number | null;
}

interface Knob {
  name: string;
  unit: string;
  value: number;
  low: number;
  high: number;
  /** Whether values below and above the range are rejected. */
  isBounded: [boolean, boolean];
}

export class Controls {
  readonly node = el("section", { class: "controls-live", attributes: { "aria-label": "Simulation" } });
  readonly parameters: Record<string, number> = {};
  private readonly start: Record<string, number> = {};
  private readonly balance = el("output", {});
  private readonly closure = el("output", {});
  private readonly kept = el("output", {});
  private readonly pace = el("output", {});
  private readonly error = el("p", { class: "error", attributes: { role: "alert" } });
  private readonly notice = el("p", { class: "empty", attributes: { role: "status" } });
  private readonly modes: HTMLSelectElement | null;
  private first: number | null = null;
  private isLate = false;
  private ignored: string[] = [];
  private readonly resets: (() => void)[] = [];
  private readonly shows = new Map<string, (value: number) => void>();

  constructor(
    private readonly simulation: Simulation,
    private readonly clock: Clock,
    private readonly changed: (parameters: Record<string, number>) => void,
  ) {
    const { info } = simulation;
    const again = this.action("Restart", "Begin again at the start", () => this.begin());
    const reset = this.action("Reset", "All values as they were", () => {
      this.reset();
      this.begin();
    });
    this.node.append(
      el("div", { class: "side-head" }, el("h2", { text: "Simulation" }), again, reset),
      el("dl", { class: "facts" },
        el("dt", { text: "energy T + U" }), el("dd", {}, this.balance),
        el("dt", { text: "energy balance", title: "what is missing, of what was turned over" }), el("dd", {}, this.kept),
        el("dt", { text: "closure residual" }), el("dd", {}, this.closure),
        el("dt", { text: "time" }), el("dd", {}, this.pace)),
      checkbox("as fast as possible", false, (on) => {
        simulation.isFast = on;
      }),
      this.error,
      this.notice,
    );
    this.error.hidden = this.notice.hidden = true;
    this.modes = this.modeChoice();
    const lengths = info.parameters.filter((x) => Number.isFinite(x.value));
    this.group("Parameters", lengths.map(knob), true, (name, value) => {
      this.parameters[name] = value;
      this.begin();
    });
    const inputs = info.inputs.filter((x) => !x.driven && !isDrag(x.name));
    this.group("Inputs", inputs.map(inputKnob), true, (name, value) => simulation.setInput(name, value));
    this.resets.push(() => inputs.forEach(({ name, value }) => simulation.setInput(name, value)));
    const positions = info.coordinates.filter((x) => !info.curved.includes(x.name));
    const starts = info.assembles ? [...positions, ...info.speeds] : [];
    this.group("Start", starts.map(knob), false, (name, value) => {
      this.start[name] = value;
      this.begin();
    });
    simulation.onChange((what, message) => this.hear(what, message));
    clock.onChange(() => this.tellPace());
  }

  begin(): void {
    this.simulation.begin({ ...this.parameters }, { ...this.start }, +(this.modes?.value ?? 0));
  }

  /** All values as they were, inputs and the assembly mode too. */
  private reset(): void {
    for (const act of this.resets) act();
    if (this.modes) this.modes.value = "0";
  }

  /** Other values, shown by the sliders too, and a new run. */
  set(parameters: Record<string, number>, start: Record<string, number>, mode = 0, inputs: Record<string, number> = {}): void {
    this.reset();
    for (const [name, value] of Object.entries(inputs)) this.setInput(name, value);
    if (this.modes) this.modes.value = `${mode}`;
    for (const [values, kept] of [[parameters, this.parameters], [start, this.start]])
      for (const [name, value] of Object.entries(values)) {
        kept[name] = value;
        this.shows.get(name)?.(value);
      }
    this.begin();
  }

  /** Holds an input at another value from now on, shown by its slider too. */
  setInput(name: string, value: number): void {
    this.shows.get(name)?.(value);
    this.simulation.setInput(name, value);
  }

  /** Values behind # in the address (#a=0.1&b=2), as pages of studies link to runs. */
  byAddress(hash: string): void {
    const { info } = this.simulation;
    const parameters: Record<string, number> = {};
    const start: Record<string, number> = {};
    const inputs: Record<string, number> = {};
    this.ignored = [];
    for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
      const value = Number(text);
      const has = (those: readonly { name: string }[]) => those.some((x) => x.name === name);
      if (text === "" || !Number.isFinite(value)) this.ignored.push(`${name}=${text}`);
      else if (has(info.parameters)) parameters[name] = value;
      else if (has(info.inputs.filter((x) => !x.driven))) inputs[name] = value;
      else if (has([...info.coordinates, ...info.speeds])) start[name] = value;
      else this.ignored.push(`${name}=${text}`);
    }
    if (Object.keys({ ...parameters, ...start, ...inputs }).length) this.set(parameters, start, 0, inputs);
    else this.tellStale();
  }

  private hear(what: string, message: string): void {
    if (what === "failed") this.fail(message);
    else if (what === "begun") {
      this.first = null;
      this.error.hidden = true;
      this.changed(this.simulation.parameters);
      this.tellStale();
    } else this.tell();
  }

  /** Says what the drawing does not follow. */
  private tellStale(): void {
    const { scene, info, parameters } = this.simulation;
    const first = new Map(info.parameters.map((x) => [x.name, x.value]));
    const isMoved = (x: string) => x in parameters && parameters[x] !== first.get(x);
    const stale = (scene.stale ?? []).filter(isMoved);
    const far = (scene.variations ?? []).filter((x) => isBeyond(x, parameters[x.parameter])).map((x) => x.parameter);
    const crossed = (scene.crossed ?? []).filter((pair) => pair.every(isMoved)).flat();
    const several = (names: string[]) => [...new Set(names)].join(", ");
    const words: string[] = [];
    if (this.ignored.length) words.push(`This page has no use for ${several(this.ignored)} of its address.`);
    if (stale.length) words.push(`Some shapes are drawn for the original ${stale.length > 1 ? "values" : "value"} of ${several(stale)}.`);
    if (far.length) words.push(`Some shapes are drawn for the nearest value of ${several(far)} that this page knows.`);
    if (crossed.length) words.push(`Some shapes follow ${several(crossed)} one by one, not together: they are drawn about right.`);
    this.notice.hidden = !words.length;
    this.notice.textContent = words.join(" ");
  }

  /** A choice of assembly modes, where there are several. */
  private modeChoice(): HTMLSelectElement | null {
    const { info, scene } = this.simulation;
    const { modes = [], about } = scene;
    if (modes.length < 2 || !info.assembles) return null;
    const titles = modes.map(({ title }, k): [string, string] => [`${k}`, title]);
    const made = select("Assembly mode", titles, "0", () => this.begin());
    const row = el("div", { class: "modes" }, el("span", { text: "assembly mode" }), made);
    if (about?.modes) row.append(el("span", { class: "soft", text: about.modes }));
    this.node.append(row);
    return made;
  }

  private fail(message: string): void {
    this.error.textContent = message;
    this.error.hidden = false;
  }

  private tell(): void {
    const { source, status, motion } = this.simulation;
    const energy = source.last("energy.T+U");
    if (energy !== null) {
      this.first ??= source.values("energy.T+U")[0];
      this.balance.textContent = `${digits(energy)} J, ${signed(energy - this.first)} J since start`;
    } else this.balance.textContent = "not known";
    const rows = source.columns.filter((x) => x.group === "closure");
    const worst = rows.reduce((most, x) => Math.max(most, Math.abs(source.last(x.name) ?? 0)), 0);
    this.closure.textContent = rows.length ? digits(worst, 2) : "no loops";
    const late = motion.count ? this.clock.time >= motion.times[motion.count - 1] - 1e-9 : false;
    this.isLate = late;
    this.tellPace();
    this.kept.textContent = balanceText(status);
    if (status?.status === "failed") this.fail(`${status.message} ${status.hint}`.trim());
    else if (status?.energy?.isOff) this.fail(`The balance of energy is ${balanceText(status)}: this motion is wrong. Take shorter steps.`);
  }

  /** Whether time runs, as the run has it and as the viewer wants it. */
  private tellPace(): void {
    const { status } = this.simulation;
    let words = this.clock.playing ? (this.isLate ? "slower than real time" : "runs") : "paused";
    if (status && status.status !== "running") words = status.status;
    if (words !== this.pace.textContent) this.pace.textContent = words;
  }

  private action(text: string, title: string, does: () => void): HTMLElement {
    return el("button", { class: "text", text, title, attributes: { type: "button" }, on: { click: does } });
  }

  private group(title: string, knobs: Knob[], isOpen: boolean, set: (name: string, value: number) => void): void {
    if (!knobs.length) return;
    const box = el("details", { class: "knobs" }, el("summary", { text: `${title} (${knobs.length})` }));
    box.open = isOpen && knobs.length <= 12;
    for (const one of knobs.slice(0, MOST)) box.append(this.row(one, set));
    if (knobs.length > MOST) box.append(el("p", { class: "empty", text: `and ${knobs.length - MOST} more` }));
    this.node.append(box);
  }

  private row(one: Knob, set: (name: string, value: number) => void): HTMLElement {
    const label = one.unit ? `${one.name} [${pretty(one.unit)}]` : one.name;
    const range = el("input", {
      attributes: { type: "range", step: "any", min: `${one.low}`, max: `${one.high}`, value: `${one.value}`, "aria-label": label },
      on: { input: () => put(+range.value) },
    });
    const number = el("input", {
      attributes: { type: "number", step: "any", value: `${one.value}`, "aria-label": `${label}, as a number` },
      on: { change: () => number.value !== "" && put(+number.value) },
    });
    const show = (value: number) => {
      // it reaches as far as values beyond its range, but not beyond bounds
      range.min = `${one.isBounded[0] ? one.low : Math.min(value, +range.min)}`;
      range.max = `${one.isBounded[1] ? one.high : Math.max(value, +range.max)}`;
      range.value = `${value}`;
      number.value = `${+value.toPrecision(6)}`;
    };
    this.shows.set(one.name, show);
    const put = (value: number) => {
      show(value);
      set(one.name, value);
    };
    this.resets.push(() => {
      range.min = `${one.low}`;
      range.max = `${one.high}`;
      show(one.value);
      delete this.parameters[one.name];
      delete this.start[one.name];
    });
    return el("div", { class: "knob" }, el("span", { text: label, title: label }), range, number);
  }
}

export function isDrag(name: string): boolean {
  return name.startsWith("drag ");
}

/** A range around a value: bounds of a parameter where there are some; half a turn either way; else half to one and a half of it. */
function knob({ name, unit, value, low = null, high = null }: Quantity): Knob {
  const reach = unit === "rad" ? Math.PI : Math.abs(value) > 0 ? 0.5 * Math.abs(value) : 1;
  return { name, unit, value, low: low ?? value - reach, high: high ?? value + reach, isBounded: [low !== null, high !== null] };
}

/** An input has no bounds, may stop and turn back. */
function inputKnob(of: Quantity): Knob {
  const reach = 2 * Math.abs(of.value) || 1;
  return { ...knob(of), low: -reach, high: reach };
}

function signed(x: number): string {
  return `${x < 0 ? "" : "+"}${digits(x, 2)}`;
}

/** What the energy is off by, beside what is turned over. */
function balanceText(status: Status | null): string {
  const energy = status?.energy;
  if (!energy) return "not watched";
  // work is known to a doubt, which grows where inputs and hands change the power
  const doubt = energy.doubt > 1e-3 * energy.turnedOver ? `, known to ${digits(energy.doubt, 2)} J` : "";
  return `off by ${digits(Math.max(energy.missed, 0), 2)} J of ${digits(energy.turnedOver, 3)} J${doubt}`;
}
