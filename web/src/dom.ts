// Elements by plain functions. Texts are set as text: nothing of a scene becomes markup.

type Child = Node | string;
interface Options {
  class?: string;
  text?: string;
  title?: string;
  attributes?: Record<string, string>;
  on?: Record<string, (event: Event) => void>;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (options.class) made.className = options.class;
  if (options.text !== undefined) made.textContent = options.text;
  if (options.title) made.title = options.title;
  for (const [name, value] of Object.entries(options.attributes ?? {})) made.setAttribute(name, value);
  for (const [name, heard] of Object.entries(options.on ?? {})) made.addEventListener(name, heard);
  made.append(...children);
  return made;
}

const ICONS: Record<string, string> = {
  play: "M7 4v16l13-8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  back: "M18 5v14l-9-7zM6 5h2.4v14H6z",
  forward: "M6 5v14l9-7zM15.600 5h2.400v14h-2.400z",
  begin: "M5 5h2.400v14H5zM19 5v14l-6-7zM13 5v14l-6-7z",
  theme: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2.200v13.600a6.800 6.800 0 0 1 0-13.600z",
  help: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 15h2v2h-2zm1-12a4 4 0 0 1 2.300 7.200c-.8.600-1.300 1.100-1.300 2.300h-2c0-2 .9-2.900 1.900-3.700A2 2 0 1 0 10 9H8a4 4 0 0 1 4-4z",
  picture: "M4 5h4l1.500-2h5L16 5h4a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zm8 3.500a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  full: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  loop: "M7 7h9V4l5 4.500L16 13v-3H7a3 3 0 0 0 0 6h1v3H7A6 6 0 0 1 7 7z",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function button(name: string, label: string, act: () => void, keys = ""): HTMLButtonElement {
  const made = el("button", {
    class: "icon",
    title: keys ? `${label} (${keys})` : label,
    attributes: { type: "button", "aria-label": label },
    on: { click: act },
  });
  made.append(icon(name));
  return made;
}

export function setIcon(made: HTMLButtonElement, name: string, label: string, keys = ""): void {
  made.replaceChildren(icon(name));
  made.setAttribute("aria-label", label);
  made.title = keys ? `${label} (${keys})` : label;
}

export function checkbox(label: string, on: boolean, act: (on: boolean) => void): HTMLLabelElement {
  const box = el("input", {
    attributes: { type: "checkbox" },
    on: { change: () => act(box.checked) },
  });
  box.checked = on;
  return el("label", { class: "check" }, box, el("span", { text: label }));
}

export function select(
  label: string,
  options: [string, string][],
  value: string,
  act: (value: string) => void,
): HTMLSelectElement {
  const made = el("select", {
    attributes: { "aria-label": label },
    title: label,
    on: { change: () => act(made.value) },
  });
  for (const [key, text] of options) made.append(el("option", { text, attributes: { value: key } }));
  made.value = value;
  return made;
}

export function css(color: number[]): string {
  return `rgb(${color.map((x) => Math.round(x)).join(",")})`;
}

/** A number with so many digits, a proper minus, and no useless exponent. */
export function digits(x: number, count = 4): string {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text = x.toPrecision(count);
  if (size >= 1e5 || size < 1e-3) text = x.toExponential(count - 1);
  else if (text.includes("e")) text = `${+text}`;
  return text.replace("e+", "e").replace(/-/g, "−");
}

/** Saves bytes as a file of the user. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = el("a", { attributes: { href: url, download: name } });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A name that is safe as one of a file. */
export function fileName(title: string, end: string): string {
  const plain = title.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "");
  return `${plain.slice(0, 60) || "run"}${end}`;
}
