"use strict";
// The page of a study: scatter and parallel coordinates of the same points; axes filter, points open runs.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const count = data.keys.length;
  const ranges = data.columns.map((x) => {
    const low = Math.min(...x), high = Math.max(...x);
    return low < high ? [low, high] : [low - 0.5, low + 0.5];
  });
  const filters = data.names.map(() => null);
  const state = { x: 0, y: data.varied.length < data.names.length ? data.varied.length : 1 % data.names.length, by: data.names.length - 1, chosen: -1 };
  const label = (k) => data.names[k] + (data.units[k] ? ` [${data.units[k]}]` : "");
  const digits = (x, places = 6) => (x === 0 ? "0" : Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6 ? x.toExponential(Math.min(4, places - 1)) : String(+x.toPrecision(places)));
  const el = (name, props = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(props))
      if (key === "text") node.textContent = value;
      else if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
      else node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const choice = (title, key) => {
    const box = el("select", { on: { change: () => { state[key] = +box.value; draw(); } } });
    data.names.forEach((_, k) => box.append(el("option", { value: k, text: label(k) })));
    box.value = state[key];
    return el("label", {}, `${title} `, box);
  };
  const scatter = el("canvas", { tabindex: 0, role: "img" });
  const lines = el("canvas", { tabindex: 0, role: "img", "aria-label": "Parallel coordinates: drag along an axis to filter" });
  lines.style.minWidth = `${92 * data.names.length}px`;
  const facts = el("section", { class: "panel", "aria-live": "polite" });
  const shown = el("p", {});
  const band = el("canvas", { width: 80, height: 10, "aria-hidden": "true" });
  const least = el("span", {}), most = el("span", {});
  const clear = el("button", { type: "button", text: "Clear filters", on: { click: () => { filters.fill(null); draw(); } } });
  const total = count < data.runs - data.failed ? `${count} of ${data.runs} runs are shown` : `${data.runs} runs`;
  document.getElementById("study").append(
    el("h1", { text: data.title }),
    el("p", { text: data.failed ? `${total}; ${data.failed} failed.` : `${total}.` }),
    el("div", { class: "grid" },
      el("div", {},
        el("section", { class: "panel" }, el("div", { class: "choices" }, choice("across", "x"), choice("up", "y"), choice("color", "by"), el("span", { class: "scale" }, least, band, most)), scatter),
        el("section", { class: "panel" }, el("div", { class: "choices" }, el("h2", { text: "Drag along an axis to filter" }), clear), el("div", { class: "wide" }, lines), shown)),
      facts));

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const color = (part) => {
    const place = Math.min(Math.max(part, 0), 1) * (STOPS.length - 1), k = Math.min(Math.floor(place), STOPS.length - 2), f = place - k;
    return `rgb(${STOPS[k].map((x, i) => Math.round(x + f * (STOPS[k + 1][i] - x))).join(",")})`;
  };
  const part = (k, i) => (data.columns[k][i] - ranges[k][0]) / (ranges[k][1] - ranges[k][0]);
  const isIn = (i) => filters.every((f, k) => !f || (part(k, i) >= f[0] && part(k, i) <= f[1]));
  let inside = [];
  const sized = (canvas, height) => {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 600;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    return [pen, width, height];
  };
  const MARGIN = { left: 62, right: 14, top: 10, bottom: 40 };
  const frame = (width, height) => ({
    x: (p) => MARGIN.left + p * (width - MARGIN.left - MARGIN.right),
    y: (p) => height - MARGIN.bottom - p * (height - MARGIN.top - MARGIN.bottom),
  });
  const ticks = ([low, high]) => {
    const raw = (high - low) / 5, base = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((m) => m * base).find((s) => s >= raw);
    const list = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) list.push(k * step);
    return list;
  };
  function drawScatter() {
    const [pen, width, height] = sized(scatter, 380), at = frame(width, height), { x, y, by } = state;
    scatter.setAttribute("aria-label", `${label(y)} over ${label(x)}, ${inside.length} points`);
    pen.strokeStyle = style("--line");
    pen.fillStyle = style("--soft");
    pen.textAlign = "center";
    for (const t of ticks(ranges[x])) {
      const p = at.x((t - ranges[x][0]) / (ranges[x][1] - ranges[x][0]));
      pen.beginPath(); pen.moveTo(p, at.y(0)); pen.lineTo(p, at.y(1)); pen.stroke();
      pen.fillText(digits(t), p, at.y(0) + 15);
    }
    pen.textAlign = "right";
    for (const t of ticks(ranges[y])) {
      const p = at.y((t - ranges[y][0]) / (ranges[y][1] - ranges[y][0]));
      pen.beginPath(); pen.moveTo(at.x(0), p); pen.lineTo(at.x(1), p); pen.stroke();
      pen.fillText(digits(t), at.x(0) - 6, p + 4);
    }
    pen.fillStyle = style("--ink");
    pen.textAlign = "center";
    pen.fillText(label(x), at.x(0.5), height - 6);
    pen.save(); pen.translate(12, at.y(0.5)); pen.rotate(-Math.PI / 2); pen.fillText(label(y), 0, 0); pen.restore();
    pen.globalAlpha = 0.8;
    for (const i of inside) {
      pen.fillStyle = color(part(by, i));
      pen.beginPath(); pen.arc(at.x(part(x, i)), at.y(part(y, i)), 3, 0, 7); pen.fill();
    }
    pen.globalAlpha = 1;
    if (state.chosen >= 0) {
      pen.strokeStyle = style("--mark");
      pen.lineWidth = 2;
      pen.beginPath(); pen.arc(at.x(part(x, state.chosen)), at.y(part(y, state.chosen)), 6, 0, 7); pen.stroke();
      pen.lineWidth = 1;
    }
  }
  const axisAt = (k, width) => 50 + (k * (width - 100)) / Math.max(1, data.names.length - 1);
  const LINES = { top: 36, bottom: 24, height: 300 };
  const levelAt = (p) => LINES.height - LINES.bottom - p * (LINES.height - LINES.top - LINES.bottom);
  function drawLines() {
    const [pen, width] = sized(lines, LINES.height);
    const trace = (i) => {
      pen.beginPath();
      data.names.forEach((_, k) => pen[k ? "lineTo" : "moveTo"](axisAt(k, width), levelAt(part(k, i))));
      pen.stroke();
    };
    pen.globalAlpha = inside.length > 500 ? 0.25 : 0.6;
    for (const i of inside) { pen.strokeStyle = color(part(state.by, i)); trace(i); }
    pen.globalAlpha = 1;
    if (state.chosen >= 0) { pen.strokeStyle = style("--mark"); pen.lineWidth = 2; trace(state.chosen); pen.lineWidth = 1; }
    pen.textAlign = "center";
    data.names.forEach((_, k) => {
      const x = axisAt(k, width);
      pen.strokeStyle = style("--soft");
      pen.beginPath(); pen.moveTo(x, levelAt(0)); pen.lineTo(x, levelAt(1)); pen.stroke();
      pen.fillStyle = style("--ink");
      pen.fillText(label(k), x, 12);
      pen.fillStyle = style("--soft");
      pen.fillText(digits(ranges[k][1], 4), x, 28);
      pen.fillText(digits(ranges[k][0], 4), x, LINES.height - 8);
      if (filters[k]) {
        pen.fillStyle = style("--mark");
        pen.globalAlpha = 0.3;
        pen.fillRect(x - 7, levelAt(filters[k][1]), 14, levelAt(filters[k][0]) - levelAt(filters[k][1]));
        pen.globalAlpha = 1;
      }
    });
    shown.textContent = `${inside.length} of ${count} points are within the filters.`;
  }
  function drawFacts() {
    facts.replaceChildren(el("h2", { text: state.chosen < 0 ? "Choose a point" : `Run ${data.keys[state.chosen].slice(0, 8)}` }));
    if (state.chosen < 0) {
      facts.append(el("p", { text: "Click a point, or move through them with the arrow keys, to see its numbers." }));
      return;
    }
    const i = state.chosen, rows = el("tbody", {});
    data.names.forEach((_, k) => rows.append(el("tr", {}, el("td", { text: label(k) }), el("td", { text: digits(data.columns[k][i]) }))));
    facts.append(el("table", {}, rows), el("p", {}, "key ", el("code", { text: data.keys[i] })));
    if (data.live) {
      const values = data.varied.map((name, k) => `${encodeURIComponent(name)}=${data.columns[k][i]}`).join("&");
      facts.append(el("a", { href: `${data.live}#${values}`, target: "_blank", rel: "noopener", text: "Open this run as a live page" }));
    }
  }
  function drawScale() {
    const pen = band.getContext("2d");
    for (let x = 0; x < band.width; x++) { pen.fillStyle = color((x + 0.5) / band.width); pen.fillRect(x, 0, 1, band.height); }
    [least.textContent, most.textContent] = ranges[state.by].map((x) => digits(x, 4));
  }
  function draw() {
    drawScale();
    inside = [];
    for (let i = 0; i < count; i++) if (isIn(i)) inside.push(i);
    if (state.chosen >= 0 && !isIn(state.chosen)) state.chosen = -1;
    drawScatter();
    drawLines();
    drawFacts();
  }
  const place = (canvas, event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top, box.width];
  };
  scatter.addEventListener("click", (event) => {
    const [px, py, width] = place(scatter, event), at = frame(width, 380);
    let best = -1, least = 400;
    for (const i of inside) {
      const d = (at.x(part(state.x, i)) - px) ** 2 + (at.y(part(state.y, i)) - py) ** 2;
      if (d < least) { least = d; best = i; }
    }
    state.chosen = best;
    draw();
  });
  scatter.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !inside.length) return;
    const order = [...inside].sort((a, b) => data.columns[state.x][a] - data.columns[state.x][b]);
    const k = order.indexOf(state.chosen);
    state.chosen = order[(k < 0 ? 0 : k + step + order.length) % order.length];
    event.preventDefault();
    draw();
  });
  let dragged = null;
  lines.addEventListener("pointerdown", (event) => {
    const [px, py, width] = place(lines, event);
    const k = data.names.findIndex((_, j) => Math.abs(axisAt(j, width) - px) < 18);
    if (k < 0) return;
    dragged = [k, py];
    lines.setPointerCapture(event.pointerId);
  });
  lines.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const [, py] = place(lines, event), p = (y) => (LINES.height - LINES.bottom - y) / (LINES.height - LINES.top - LINES.bottom);
    const [low, high] = [p(dragged[1]), p(py)].sort((a, b) => a - b);
    filters[dragged[0]] = high - low > 0.01 ? [low, high] : null;
    draw();
  });
  lines.addEventListener("pointerup", () => { dragged = null; });
  new ResizeObserver(draw).observe(document.getElementById("study"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
