// Sliders of a mechanism. Texts of the model are set as text, never as markup.

function row(model, slider, changed) {
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = slider.name;
  const input = document.createElement("input");
  Object.assign(input, {type: "range", min: slider.low, max: slider.high, step: "any"});
  input.setAttribute("aria-label", slider.unit ? `${slider.name} [${slider.unit}]` : slider.name);
  const shown = document.createElement("output");
  const place = () => Number(model.get("values")[slider.name]);
  const show = () => { shown.textContent = `${text(place(), slider.step)} ${slider.unit}`; };
  const set = (value) => {
    const steps = Math.round((value - slider.low) / slider.step);
    const near = Math.min(slider.high, slider.low + steps * slider.step);
    model.set("values", {...model.get("values"), [slider.name]: near});
    changed();
  };
  input.addEventListener("input", () => set(Number(input.value)));
  input.addEventListener("keydown", (event) => {
    const way = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}[event.key];
    if (!way) return;
    event.preventDefault();
    set(Math.max(slider.low, place() + way * slider.step));
  });
  const follow = () => { input.value = place(); show(); };
  follow();
  model.on("change:values", follow);
  label.append(name, input, shown);
  return [label, () => model.off("change:values", follow)];
}

function text(value, step) {
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return Number(value.toFixed(Math.min(digits + 1, 12))).toString();
}

function render({model, el}) {
  let isLate = false;
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
  const changed = () => { if (isWaiting()) isLate = true; else ask(); };
  const answered = () => { if (isLate && !isWaiting()) ask(); };
  const say = () => {
    note.textContent = model.get("message");
    note.hidden = !model.get("message");
  };

  const rows = model.get("sliders").map((slider) => row(model, slider, changed));
  box.append(...rows.map(([element]) => element), note);
  el.append(box);
  say();
  model.on("change:answered", answered);
  model.on("change:message", say);
  return () => {
    rows.forEach(([, forget]) => forget());
    model.off("change:answered", answered);
    model.off("change:message", say);
  };
}

export default {render};
