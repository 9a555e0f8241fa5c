// Names that stand in the picture, as texts above the canvas.
import { type Camera, Vector3 } from "three";
import { el } from "./dom";

/** Pixels of a letter and of a line, about, and letters that are shown at most. */
const LETTER = 6.6;
const LINE = 18;
const MOST_LETTERS = 26;

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
  private readonly shown: { label: Label; mark: HTMLElement; text: string }[] = [];
  private readonly at = new Vector3();

  add(label: Label, kind = ""): void {
    const mark = el("span", { class: `name ${kind}` });
    this.node.append(mark);
    this.shown.push({ label, mark, text: "" });
  }

  /** All labels of the layers that are on, where their points are seen; none on another. */
  show(camera: Camera, width: number, height: number, isOn: (layer: string) => boolean): void {
    const seen: { mark: HTMLElement; text: string; x: number; y: number }[] = [];
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
      seen.push({ mark: one.mark, text, x: ((at.x + 1) / 2) * width, y: ((1 - at.y) / 2) * height });
    }
    const taken: Box[] = [];
    seen.sort((a, b) => a.y - b.y);
    for (const { mark, text, x, y } of seen)
      mark.style.transform = `translate(${x.toFixed(1)}px, ${this.free(taken, x, y, text).toFixed(1)}px)`;
  }

  /** The height at or below the one wanted at which a text covers no other. */
  private free(taken: Box[], x: number, y: number, text: string): number {
    const right = x + 10 + LETTER * Math.min(text.length, MOST_LETTERS);
    let at = y;
    for (let tries = 0; tries < 4; tries++) {
      const hit = taken.find((b) => x < b.right && right > b.left && Math.abs(at - b.y) < LINE);
      if (!hit) break;
      at = hit.y + LINE;
    }
    taken.push({ left: x, right, y: at });
    return at;
  }
}
