// The widget of a notebook: sliders, and the motion that they lead to in a frame of its own, in which
// the same page is shown as in a file. A new motion is posted to the frame, which stays. Texts of the
// model are set as text, never as markup.

interface Slider {
  name: string;
  unit: string;
  low: number;
  high: number;
  step: number;
}

/** What the notebook offers of its model. */
interface Model {
  get(name: "values"): Record<string, number>;
  get(name: "sliders"): Slider[];
  get(name: "asked" | "answered"): number;
  get(name: "title" | "message" | "key"): string;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(name: string, act: (content?: never) => void): void;
  off(name: string, act: (content?: never) => void): void;
}

type Content = { page: string; height: number; title: string } | { scene: string; data: string };

const REST = 1000; // milliseconds without a move after which the notebook keeps the motion

function text(value: number, step: number): string {
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return Number(value.toFixed(Math.min(digits + 1, 12))).toString();
}

function row(model: Model, slider: Slider, changed: () => void): [HTMLElement, () => void] {
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = slider.name;
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min: slider.low, max: slider.high, step: "any" });
  input.setAttribute("aria-label", slider.unit ? `${slider.name} [${slider.unit}]` : slider.name);
  const shown = document.createElement("output");
  const place = () => Number(model.get("values")[slider.name]);
  const set = (value: number) => {
    const steps = Math.round((value - slider.low) / slider.step);
    const near = Math.min(slider.high, slider.low + steps * slider.step);
    model.set("values", { ...model.get("values"), [slider.name]: near });
    changed();
  };
  input.addEventListener("input", () => set(Number(input.value)));
  input.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    set(Math.max(slider.low, place() + way * slider.step));
  });
  const follow = () => {
    input.value = `${place()}`;
    shown.textContent = `${text(place(), slider.step)} ${slider.unit}`;
  };
  follow();
  model.on("change:values", follow);
  label.append(name, input, shown);
  return [label, () => model.off("change:values", follow)];
}

/** The frame of the motion; while it is there, the copy that a saved notebook keeps is hidden. */
function motion(model: Model, box: HTMLElement): () => void {
  let frame: HTMLIFrameElement | null = null;
  let late: Content | null = null;
  let isReady = false;
  const hides = document.createElement("style");
  hides.textContent = `[data-liaison="${CSS.escape(model.get("key"))}"] { display: none; }`;
  const post = (content: Content) => {
    if (isReady) frame?.contentWindow?.postMessage({ kind: "liaison", ...content }, "*");
    else late = content;
  };
  const heard = (content?: Content) => {
    if (!content) return;
    if (!("page" in content)) return post(content);
    frame ??= document.createElement("iframe");
    frame.title = content.title;
    frame.setAttribute("sandbox", "allow-scripts allow-downloads");
    frame.style.cssText = `width:100%;height:${Number(content.height)}px;border:0;border-radius:4px`;
    frame.srcdoc = content.page;
    box.append(frame);
  };
  const ready = (event: MessageEvent) => {
    if (!frame || event.source !== frame.contentWindow || event.data?.kind !== "liaison-ready") return;
    isReady = true;
    document.head.append(hides);
    if (late) post(late);
    late = null;
  };
  window.addEventListener("message", ready);
  model.on("msg:custom", heard as (content?: never) => void);
  model.send({ ask: "page" });
  return () => {
    window.removeEventListener("message", ready);
    model.off("msg:custom", heard as (content?: never) => void);
    hides.remove();
  };
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  let isLate = false;
  let resting = 0;
  const box = document.createElement("div");
  box.className = "liaison-sliders";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", model.get("title"));
  const note = document.createElement("p");
  note.setAttribute("role", "status");

  const ask = () => {
    isLate = false;
    model.set("asked", model.get("asked") + 1);
    model.save_changes();
  };
  const isWaiting = () => model.get("asked") !== model.get("answered");
  const changed = () => {
    if (isWaiting()) isLate = true;
    else ask();
  };
  const answered = () => {
    if (isLate && !isWaiting()) ask();
    window.clearTimeout(resting);
    resting = window.setTimeout(() => model.send({ ask: "keep" }), REST);
  };
  const say = () => {
    note.textContent = model.get("message");
    note.hidden = !model.get("message");
  };

  const rows = model.get("sliders").map((slider) => row(model, slider, changed));
  box.append(...rows.map(([element]) => element), note);
  const below = document.createElement("div");
  el.append(box, below);
  say();
  model.on("change:answered", answered);
  model.on("change:message", say);
  const end = motion(model, below);
  return () => {
    rows.forEach(([, forget]) => forget());
    model.off("change:answered", answered);
    model.off("change:message", say);
    window.clearTimeout(resting);
    end();
  };
}

export default { render };
