// Names that stand in the picture, as texts above the canvas.
import { type Camera, Vector3 } from "three";
import { el } from "./dom";

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

  /** All labels of the layers that are on, where their points are seen. */
  show(camera: Camera, width: number, height: number, isOn: (layer: string) => boolean): void {
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
      const x = ((at.x + 1) / 2) * width;
      const y = ((1 - at.y) / 2) * height;
      one.mark.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }
}
