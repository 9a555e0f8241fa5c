// Curves beside the picture: chosen from all columns, a plot for each unit, one time for all.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Clock, placeOf } from "./clock";
import { checkbox, digits, download, el, fileName, select } from "./dom";
import { unpacked } from "./packed";
import type { EventGroup, Packed, Scene } from "./scene";

const LIGHT = ["#0b6bb0", "#cf5a00", "#00856a", "#b3568c", "#a87400", "#2a94cf", "#565656", "#8c4a24"];
const DARK = ["#5ab1f0", "#ff9a4d", "#3fd0ac", "#e694c2", "#f0bd4d", "#8fd0f5", "#c4c9cf", "#d69c74"];
const MOST_LISTED = 400;
const MOST_LINES = 40; // of events behind curves
const HEIGHT = 190;

/** Units as people write them. */
export function pretty(unit: string): string {
  return unit.replace(/\*/g, "·").replace(/\^2/g, "²").replace(/\^3/g, "³");
}

/** Where curves come from: a recorded run, or one that goes on. */
export interface Source {
  readonly times: Float64Array;
  readonly columns: readonly { name: string; group: string; unit: string }[];
  readonly chosen: readonly string[];
  readonly error: number;
  values(name: string): Float64Array;
}

/** The columns of a scene. */
export function recorded(scene: Scene, bytes: Uint8Array): Source {
  const { series } = scene;
  const packed = new Map(series.columns.map((x) => [x.name, x.values]));
  return {
    times: unpacked(series.times, bytes).data,
    columns: series.columns,
    chosen: series.chosen,
    error: series.error,
    values: (name) => unpacked(packed.get(name) as Packed, bytes).data,
  };
}

type Column = Source["columns"][number];

interface Curve {
  column: Column;
  values: Float64Array;
}

class Plot {
  readonly node = el("section", { class: "plot" });
  curves: Curve[] = [];
  private readonly box = el("div", { class: "canvas" });
  private readonly legend = el("ul", { class: "curves" });
  private readonly cursor = el("div", { class: "now" });
  private readonly readouts: HTMLElement[] = [];
  private drawn: uPlot | null = null;
  private isLog = false;
  private unit: string;
  private factor = 1;

  constructor(
    readonly charts: Charts,
    unit: string,
  ) {
    const choices = charts.scene.series.units[unit] ?? [[unit, 1]];
    this.unit = unit;
    const head = el("div", { class: "plot-head" });
    if (choices.length > 1) {
      const listed = choices.map(([x]): [string, string] => [x, pretty(x)]);
      head.append(
        select("Unit of this plot", listed, unit, (value) => {
          this.unit = value;
          this.factor = choices.find(([x]) => x === value)?.[1] ?? 1;
          this.draw();
        }),
      );
    } else head.append(el("span", { class: "unit", text: unit ? pretty(unit) : "no unit" }));
    head.append(
      checkbox("log", false, (on) => {
        this.isLog = on;
        this.draw();
      }),
    );
    this.node.append(head, this.legend, this.box);
  }

  get unitText(): string {
    return this.unit;
  }

  /** Values as they are shown. */
  shown(curve: Curve): number[] {
    return Array.from(curve.values, (x) => x * this.factor);
  }

  draw(): void {
    this.drawn?.destroy();
    this.legend.replaceChildren();
    this.readouts.length = 0;
    this.curves.forEach((curve, k) => this.addReadout(curve, this.charts.color(k)));
    const unit = this.unit ? ` [${pretty(this.unit)}]` : "";
    const names = this.curves.map((x) => x.column.name).join(", ");
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `${names}${unit} over time`);
    this.drawn = new uPlot(this.options(), this.data(), this.box);
    this.drawn.over.append(this.cursor);
    this.drawn.over.addEventListener("click", (event) => {
      if (this.drawn && Math.abs(this.drawn.select.width) < 2)
        this.charts.clock.seek(this.drawn.posToVal(event.offsetX, "x"));
    });
    this.tell();
  }

  /** The same curves with more values. */
  refresh(): void {
    for (const curve of this.curves) curve.values = this.charts.source.values(curve.column.name);
    this.drawn?.setData(this.data());
    this.tell();
  }

  resize(): void {
    const width = this.box.clientWidth;
    if (this.drawn && width > 0 && width !== this.drawn.width)
      this.drawn.setSize({ width, height: HEIGHT });
    this.tell();
  }

  /** Cursor and values at the time shown. */
  tell(): void {
    if (!this.drawn) return;
    const { time } = this.charts.clock;
    const x = this.drawn.valToPos(time, "x");
    const width = this.drawn.bbox.width / uPlot.pxRatio;
    this.cursor.hidden = !(x >= -0.5 && x <= width + 0.5);
    this.cursor.style.transform = `translateX(${x.toFixed(1)}px)`;
    const [k, part] = placeOf(this.charts.times, time);
    const later = Math.min(k + 1, this.charts.times.length - 1);
    this.curves.forEach((curve, i) => {
      // a run goes on between two drawings
      if (later >= curve.values.length) curve.values = this.charts.source.values(curve.column.name);
      const value = (1 - part) * curve.values[k] + (part > 0 ? part * curve.values[later] : 0);
      this.readouts[i].textContent = digits(this.factor * value);
    });
  }

  /** The plot with its legend on a canvas of its own. */
  picture(): HTMLCanvasElement | null {
    const inner = this.drawn?.ctx.canvas;
    if (!inner) return null;
    const ratio = window.devicePixelRatio || 1;
    const line = 18 * ratio;
    const made = document.createElement("canvas");
    made.width = inner.width;
    made.height = inner.height + line * this.curves.length + line;
    const pen = made.getContext("2d") as CanvasRenderingContext2D;
    const style = getComputedStyle(this.node);
    pen.fillStyle = this.charts.paper();
    pen.fillRect(0, 0, made.width, made.height);
    pen.font = `${12 * ratio}px system-ui, sans-serif`;
    this.curves.forEach((curve, k) => {
      pen.fillStyle = this.charts.color(k);
      pen.fillRect(8 * ratio, line * (k + 0.75), 16 * ratio, 3 * ratio);
      pen.fillStyle = style.color;
      const unit = this.unit ? ` [${pretty(this.unit)}]` : "";
      pen.fillText(`${curve.column.name}${unit}`, 30 * ratio, line * (k + 1));
    });
    pen.drawImage(inner, 0, line * this.curves.length + line / 2);
    return made;
  }

  destroy(): void {
    this.drawn?.destroy();
    this.node.remove();
  }

  private addReadout(curve: Curve, color: string): void {
    const value = el("output", { class: "value" });
    const swatch = el("i", {});
    swatch.style.background = color;
    const remove = el("button", {
      class: "remove",
      text: "×",
      title: "Remove this curve",
      attributes: { type: "button", "aria-label": `Remove ${curve.column.name}` },
      on: { click: () => this.charts.choose(curve.column.name, false) },
    });
    const name = el("span", { class: "label", text: curve.column.name, title: curve.column.name });
    this.legend.append(el("li", {}, swatch, name, value, remove));
    this.readouts.push(value);
  }

  private data(): uPlot.AlignedData {
    const bend = (x: number) => {
      if (!Number.isFinite(x)) return null;
      return this.isLog ? (x === 0 ? null : Math.abs(x)) : x;
    };
    const rows = this.curves.map((curve) => this.shown(curve).map(bend));
    return [Array.from(this.charts.times), ...rows] as uPlot.AlignedData;
  }

  private options(): uPlot.Options {
    const { charts } = this;
    const ink = charts.ink();
    const axis = {
      stroke: ink.text,
      font: "11px system-ui, sans-serif",
      grid: { stroke: ink.grid, width: 1 },
      ticks: { stroke: ink.grid, width: 1, size: 4 },
    };
    return {
      width: Math.max(this.box.clientWidth, 120),
      height: HEIGHT,
      legend: { show: false },
      cursor: { points: { size: 5 }, drag: { x: true, y: false }, y: false },
      scales: { x: { time: false }, y: { distr: this.isLog ? 3 : 1 } },
      axes: [
        { ...axis, size: 28, space: 46, label: "t [s]", labelSize: 16, labelFont: axis.font, labelGap: 0 },
        { ...axis, size: 56, values: (_u, ticks) => ticks.map((x) => (x == null ? "" : tick(x))) },
      ],
      series: [
        {},
        ...this.curves.map((curve, k) => ({
          label: curve.column.name,
          stroke: charts.color(k),
          width: 1.75,
          pxAlign: 0, // values between pixels stay there: no stairs
          dash: k >= LIGHT.length ? [6, 3] : undefined,
          points: { show: !charts.clock.isLive && curve.values.length < 3 },
          spanGaps: false,
        })),
      ],
      hooks: { drawAxes: [(plot) => charts.drawEvents(plot)] },
    };
  }
}

function tick(x: number): string {
  const size = Math.abs(x);
  const text = size !== 0 && (size >= 1e5 || size < 1e-3) ? x.toExponential() : `${+x.toPrecision(6)}`;
  return text.replace(/-/g, "−");
}

export class Charts {
  readonly node = el("section", { class: "charts", attributes: { "aria-label": "Curves" } });
  private readonly plots = new Map<string, Plot>();
  private readonly chosen = new Set<string>();
  private readonly stack = el("div", { class: "stack" });
  private readonly list = el("div", { class: "list" });
  private readonly search = el("input", {
    attributes: { type: "search", placeholder: "find a curve", "aria-label": "Find a curve" },
    on: { input: () => this.fillList() },
  });
  private isDark = false;

  constructor(
    readonly scene: Scene,
    readonly source: Source,
    readonly clock: Clock,
  ) {
    for (const name of source.chosen) this.chosen.add(name);
    const chooser = el(
      "details",
      { class: "chooser" },
      el("summary", { text: `Choose from ${source.columns.length}` }),
      this.search,
      this.list,
    );
    chooser.addEventListener("toggle", () => chooser.open && this.fillList());
    const act = (text: string, title: string, does: () => void) =>
      el("button", { class: "text", text, title, attributes: { type: "button" }, on: { click: does } });
    this.node.append(
      el(
        "div",
        { class: "side-head" },
        el("h2", { text: "Curves" }),
        act("PNG", "Save the plots as a picture", () => this.savePicture()),
        act("CSV", "Save the curves as a table", () => this.saveTable()),
      ),
      chooser,
      this.stack,
    );
    new ResizeObserver(() => this.resize()).observe(this.stack);
    clock.onChange(() => this.tell());
  }

  get times(): Float64Array {
    return this.source.times;
  }

  /** After more values came. */
  refresh(): void {
    for (const plot of this.plots.values()) plot.refresh();
  }

  /** Puts a curve into the plot of its unit, or takes it out. */
  choose(name: string, on: boolean): void {
    if (on) this.chosen.add(name);
    else this.chosen.delete(name);
    this.draw();
    this.fillList();
  }

  /** Names of the curves that are shown. */
  names(): string[] {
    return [...this.chosen];
  }

  /** The curves of another view of the same columns; of other columns the own choice stays. */
  chooseAll(names: string[], known: string[]): void {
    const own = new Set(this.source.columns.map((x) => x.name));
    if (!known.some((x) => own.has(x))) return;
    this.chosen.clear();
    for (const name of names) if (own.has(name)) this.chosen.add(name);
    this.draw();
  }

  setDark(isDark: boolean): void {
    this.isDark = isDark;
    this.draw();
  }

  color(k: number): string {
    const colors = this.isDark ? DARK : LIGHT;
    return colors[k % colors.length];
  }

  ink(): { text: string; grid: string; event: string } {
    return this.isDark
      ? { text: "#b6c0ca", grid: "#2d363f", event: "rgba(200,210,220,0.35)" }
      : { text: "#4b5560", grid: "#e6eaee", event: "rgba(60,70,80,0.28)" };
  }

  paper(): string {
    return this.isDark ? "#171c22" : "#ffffff";
  }

  /** Instants of events behind the curves. */
  drawEvents(plot: uPlot): void {
    const { ctx, bbox } = plot;
    if (this.scene.events.groups.length > MOST_LINES) return;
    ctx.save();
    ctx.strokeStyle = this.ink().event;
    ctx.setLineDash([3, 3]);
    ctx.beginPath();
    for (const group of this.scene.events.groups as EventGroup[]) {
      const x = plot.valToPos(group.begin, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.stroke();
    ctx.restore();
  }

  private tell(): void {
    for (const plot of this.plots.values()) plot.tell();
  }

  private resize(): void {
    for (const plot of this.plots.values()) plot.resize();
  }

  private draw(): void {
    const all = new Map(this.source.columns.map((x) => [x.name, x]));
    const curves = [...this.chosen].map((x) => all.get(x)).filter((x) => x !== undefined);
    const units = [...new Set(curves.map((x) => x.unit))];
    for (const [unit, plot] of this.plots)
      if (!units.includes(unit)) {
        plot.destroy();
        this.plots.delete(unit);
      }
    for (const unit of units) {
      let plot = this.plots.get(unit);
      if (!plot) {
        plot = new Plot(this, unit);
        this.plots.set(unit, plot);
        this.stack.append(plot.node);
      }
      const before = new Map(plot.curves.map((x) => [x.column.name, x]));
      plot.curves = curves
        .filter((x) => x.unit === unit)
        .map((column) => before.get(column.name) ?? this.curve(column));
      plot.draw();
    }
    if (!units.length) this.stack.replaceChildren(el("p", { class: "empty", text: "No curve chosen." }));
    else this.stack.querySelector(".empty")?.remove();
  }

  private curve(column: Column): Curve {
    return { column, values: this.source.values(column.name) };
  }

  private fillList(): void {
    if (!this.list.parentElement || !(this.list.parentElement as HTMLDetailsElement).open) return;
    const wanted = this.search.value.trim().toLowerCase();
    const found = this.source.columns.filter((x) =>
      `${x.name} ${x.group}`.toLowerCase().includes(wanted),
    );
    this.list.replaceChildren();
    let group = "";
    for (const column of found.slice(0, MOST_LISTED)) {
      if (column.group !== group) {
        group = column.group;
        this.list.append(el("h3", { text: group }));
      }
      const text = column.unit ? `${column.name} [${pretty(column.unit)}]` : column.name;
      this.list.append(
        checkbox(text, this.chosen.has(column.name), (on) => this.choose(column.name, on)),
      );
    }
    const more = found.length - MOST_LISTED;
    if (more > 0) this.list.append(el("p", { class: "empty", text: `and ${more} more: write a part of the name` }));
    if (!found.length) this.list.append(el("p", { class: "empty", text: "No curve has this name." }));
  }

  private savePicture(): void {
    const pictures = [...this.plots.values()].map((x) => x.picture()).filter((x) => x !== null);
    if (!pictures.length) return;
    const whole = document.createElement("canvas");
    whole.width = Math.max(...pictures.map((x) => x.width));
    whole.height = pictures.reduce((sum, x) => sum + x.height, 0);
    const pen = whole.getContext("2d") as CanvasRenderingContext2D;
    let top = 0;
    for (const picture of pictures) {
      pen.drawImage(picture, 0, top);
      top += picture.height;
    }
    whole.toBlob((blob) => blob && download(blob, fileName(this.scene.title, "_curves.png")));
  }

  private saveTable(): void {
    download(
      new Blob([this.table()], { type: "text/csv;charset=utf-8" }),
      fileName(this.scene.title, ".csv"),
    );
  }

  /** The chosen curves as text, one row for each instant. */
  table(): string {
    const rows: { name: string; values: number[] }[] = [];
    for (const plot of this.plots.values())
      for (const curve of plot.curves)
        rows.push({
          name: plot.unitText ? `${curve.column.name} [${plot.unitText}]` : curve.column.name,
          values: plot.shown(curve),
        });
    const figures = this.source.error < 1e-6 ? 8 : 6;
    const lines = [["t [s]", ...rows.map((x) => x.name)].map(quoted).join(",")];
    this.times.forEach((t, k) => {
      const cells = rows.map(({ values }) => (Number.isFinite(values[k]) ? number(values[k], figures) : ""));
      lines.push([number(t, 8), ...cells].join(","));
    });
    return `${lines.join("\r\n")}\r\n`;
  }
}

function number(x: number, figures: number): string {
  return `${+x.toPrecision(figures)}`;
}

/** A cell; one that a spreadsheet would take for a formula begins with an apostrophe. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return `"${safe.replace(/"/g, '""')}"`;
}
