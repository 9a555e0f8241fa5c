// Names that stand in the picture, as texts above the canvas.
import { type Camera, Vector3 } from "three";
import { el } from "./dom";

/** Pixels of a letter and of a line, about, and letters that are shown at most. */
const LETTER = 6.6;
const LINE = 18;
const MOST_LETTERS = 26;
/** Pixels to the right and down from a point to its text, by kind, as page.css has them; "beside" ends there. */
const OFFSETS: Record<string, [number, number]> = { "": [6, -23], drag: [6, -23], force: [5, -8], joint: [4, 4], beside: [-8, -9] };

interface Box {
  left: number;
  right: number;
  y: number;
}

export interface Label {
  layer: string;
  text(): string;
  place(out: Vector3): Vector3;
}

export class Labels {
  readonly node = el("div", { class: "labels", attributes: { "aria-hidden": "true" } });
  private readonly shown: { label: Label; kind: string; mark: HTMLElement; text: string }[] = [];
  private readonly at = new Vector3();

  add(label: Label, kind = ""): void {
    const mark = el("span", { class: `name ${kind}` });
    this.node.append(mark);
    this.shown.push({ label, kind, mark, text: "" });
  }

  /** All labels of the layers that are on, where their points are seen; none on another. */
  show(camera: Camera, width: number, height: number, isOn: (layer: string) => boolean): void {
    const seen: { mark: HTMLElement; kind: string; text: string; x: number; y: number }[] = [];
    for (const one of this.shown) {
      const visible = isOn(one.label.layer);
      const at = visible ? one.label.place(this.at).project(camera) : this.at;
      const text = visible ? one.label.text() : "";
      if (!visible || !text || at.z > 1 || Math.abs(at.x) > 1.1 || Math.abs(at.y) > 1.1) {
        one.mark.hidden = true;
        continue;
      }
      one.mark.hidden = false;
      if (text !== one.text) {
        one.text = text;
        one.mark.textContent = text;
      }
      seen.push({ mark: one.mark, kind: one.kind, text, x: ((at.x + 1) / 2) * width, y: ((1 - at.y) / 2) * height });
    }
    const taken: Box[] = [];
    seen.sort((a, b) => a.y + OFFSETS[a.kind][1] - b.y - OFFSETS[b.kind][1]);
    for (const { mark, kind, text, x, y } of seen) {
      const [aside, down] = OFFSETS[kind];
      const width = 10 + LETTER * Math.min(text.length, MOST_LETTERS);
      const left = x + aside - (kind === "beside" ? width : 0);
      const at = free(taken, left, left + width, y + down) - down;
      mark.style.transform = `translate(${x.toFixed(1)}px, ${at.toFixed(1)}px)`;
    }
  }
}

/** The height at or below the one wanted at which a text covers no other. */
function free(taken: Box[], left: number, right: number, y: number): number {
  let at = y;
  for (let tries = 0; tries < 12; tries++) {
    const hit = taken.find((b) => left < b.right && right > b.left && Math.abs(at - b.y) < LINE);
    if (!hit) break;
    at = hit.y + LINE;
  }
  taken.push({ left, right, y: at });
  return at;
}
