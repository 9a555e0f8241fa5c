// The bar below: play, time, speed; strips of contacts and marks of events above the slider.
import type { Clock } from "./clock";
import { button, css, digits, el, select, setIcon } from "./dom";
import type { EventGroup, Scene } from "./scene";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const STEPS = 10000;
const LISTED = 40; // events of a run that goes on

export class Transport {
  readonly node = el("footer", { class: "bar", attributes: { "aria-label": "Time" } });
  private readonly slider: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private readonly readout = el("output", { class: "time" });
  private readonly speed: HTMLSelectElement;
  private readonly nows: HTMLElement[] = [];
  private strips: HTMLElement | null = null;
  private readonly named = new Set<string>();
  private hasOthers = false;

  constructor(
    private readonly scene: Scene,
    private readonly clock: Clock,
    private readonly motion: { readonly times: Float64Array },
  ) {
    this.slider = el("input", {
      class: "slider",
      attributes: { type: "range", min: "0", max: `${STEPS}`, step: "1", "aria-label": "Time" },
      on: { input: () => this.byHand(this.timeOf(+this.slider.value / STEPS)) },
    });
    this.slider.disabled = !clock.isLive && clock.end <= clock.begin;
    this.play = button("play", "Play", () => clock.setPlaying(!clock.playing), "space");
    this.play.classList.add("play");
    const speeds = [...new Set([...SPEEDS, scene.speed])].sort((a, b) => a - b);
    this.speed = select(
      "Speed",
      speeds.map((x) => [`${x}`, `${x}×`]),
      `${clock.speed}`,
      (value) => clock.setSpeed(+value),
    );
    this.addStrips();
    this.node.append(
      el(
        "div",
        { class: "controls" },
        button("begin", "To the beginning", () => clock.seek(clock.begin), "home"),
        button("back", "One picture back", () => this.step(-1), ","),
        this.play,
        button("forward", "One picture on", () => this.step(1), "."),
        this.readout,
        this.slider,
        this.speed,
      ),
    );
    clock.onChange(() => this.tell());
    this.tell();
  }

  /** The next picture, or the one before. */
  step(by: number): void {
    const { clock } = this;
    const { times } = this.motion;
    let k = 0;
    while (k + 1 < times.length && times[k + 1] <= clock.time + 1e-9) k++;
    if (by < 0 && clock.time > times[k] + 1e-9) k++;
    this.byHand(times[Math.min(Math.max(k + by, 0), times.length - 1)]);
  }

  /** The event after or before the time shown. */
  toEvent(by: number): void {
    const begins = this.scene.events.groups.map((x) => x.begin);
    const { time } = this.clock;
    const after = begins.filter((t) => t > time + 1e-9);
    const before = begins.filter((t) => t < time - 1e-9);
    const found = by > 0 ? after[0] : before[before.length - 1];
    if (found !== undefined) this.byHand(found);
  }

  private byHand(time: number): void {
    if (this.clock.playing) this.clock.setPlaying(false);
    this.clock.seek(time);
  }

  private timeOf(part: number): number {
    return this.clock.begin + part * (this.clock.end - this.clock.begin);
  }

  private part(time: number): number {
    const length = this.clock.end - this.clock.begin;
    return length > 0 ? (time - this.clock.begin) / length : 0;
  }

  private tell(): void {
    const { clock } = this;
    const part = this.part(clock.time);
    this.slider.value = `${Math.round(STEPS * part)}`;
    const places = clock.isLive ? 3 : clock.end - clock.begin >= 100 ? 2 : clock.end - clock.begin >= 1 ? 3 : 5;
    const text = clock.time.toFixed(places).replace("-", "−");
    this.readout.textContent = `${text} s`;
    this.slider.setAttribute("aria-valuetext", `${digits(clock.time)} seconds`);
    for (const now of this.nows) now.style.left = `${100 * part}%`;
    const state = clock.playing ? "pause" : "play";
    if (this.play.dataset.state !== state) {
      this.play.dataset.state = state;
      setIcon(this.play, state, clock.playing ? "Pause" : "Play", "space");
    }
    this.speed.value = `${clock.speed}`;
    if (this.speed.value === "") {
      this.speed.append(el("option", { text: `${clock.speed}×`, attributes: { value: `${clock.speed}` } }));
      this.speed.value = `${clock.speed}`;
    }
  }

  /** Marks of the events of a run that goes on, where time is now. */
  refreshEvents(): void {
    const { events, strips } = this.scene;
    if (!events.groups.length && !strips.length && !this.strips) return;
    this.strips?.remove();
    this.nows.length = 0;
    this.strips = null;
    this.addStrips();
    this.tell();
  }

  private addStrips(): void {
    const { strips, events, states } = this.scene;
    for (const { name } of strips) this.named.add(name);
    const isOther = events.groups.some((x) => !this.named.has(x.owner));
    this.hasOthers ||= isOther;
    if (!this.named.size && !this.hasOthers) return;
    const box = el("div", { class: "strips" });
    this.strips = box;
    // rows that were there stay, so that the picture above keeps its size
    const rows = new Map([...this.named].map((name) => [name, this.row(name, box)]));
    const others = this.hasOthers ? this.row("events", box) : null;
    for (const strip of strips) {
      const row = rows.get(strip.name) as HTMLElement;
      for (const [state, begin, end] of strip.spans) {
        const span = el("b", { title: `${strip.name} ${states[state].word}` });
        span.style.left = `${100 * this.part(begin)}%`;
        span.style.width = `${100 * (this.part(end) - this.part(begin))}%`;
        span.style.background = css(states[state].color);
        row.append(span);
      }
    }
    for (const group of events.groups) (rows.get(group.owner) ?? others)?.append(this.mark(group));
    this.node.prepend(box);
  }

  private row(name: string, box: HTMLElement): HTMLElement {
    const now = el("i", { class: "at" });
    this.nows.push(now);
    const track = el("div", {
      class: "track",
      on: {
        click: (event) => {
          const place = track.getBoundingClientRect();
          this.byHand(this.timeOf(((event as MouseEvent).clientX - place.left) / place.width));
        },
      },
    });
    track.append(now);
    box.append(el("div", { class: "strip" }, el("span", { class: "of", text: name, title: name }), track));
    return track;
  }

  private mark(group: EventGroup): HTMLElement {
    const made = el("u", {
      class: `${group.hit ? "hit" : ""} ${group.count > 1 ? "many" : ""}`,
      title: `${digits(group.begin, 5)} s  ${group.words}`,
      on: {
        click: (event) => {
          event.stopPropagation();
          this.byHand(group.begin);
        },
      },
    });
    made.style.left = `${100 * this.part(group.begin)}%`;
    made.style.width = `max(${group.count > 1 ? 5 : 3}px, ${100 * (this.part(group.end) - this.part(group.begin))}%)`;
    return made;
  }
}

/** The list of events; choosing one goes to its instant. */
export function eventList(scene: Scene, clock: Clock): HTMLElement | null {
  const { groups, count } = scene.events;
  if (!groups.length || clock.isLive) return null;
  const list = el("select", {
    class: "events",
    attributes: { size: `${Math.min(Math.max(groups.length, 2), 8)}`, "aria-label": "Events" },
    on: { change: () => go() },
  });
  groups.forEach((group, k) => {
    const until = group.end > group.begin ? `–${digits(group.end, 4)}` : "";
    const text = `${digits(group.begin, 4)}${until} s   ${group.words}`;
    list.append(el("option", { text, title: text, attributes: { value: `${k}` } }));
  });
  const go = () => {
    if (clock.playing) clock.setPlaying(false);
    clock.seek(groups[+list.value].begin);
  };
  let last = -1;
  clock.onChange(() => {
    let k = -1;
    while (k + 1 < groups.length && groups[k + 1].begin <= clock.time + 1e-9) k++;
    if (k !== last && document.activeElement !== list) {
      last = k;
      list.selectedIndex = k;
    }
  });
  const shown = groups.reduce((sum, x) => sum + x.count, 0);
  const title = shown < count ? `Events: ${shown} of ${count}` : `Events: ${count}`;
  return el("section", { class: "event-list" }, el("h2", { text: title }), list);
}

/** The list of events of a run that goes on: the last ones, newest first. */
export class LiveEvents {
  readonly node = el("section", { class: "event-list" });
  private readonly title = el("h2", {});
  private readonly list = el("select", {
    class: "events",
    attributes: { size: "6", "aria-label": "Events" },
    on: { change: () => this.go() },
  });
  private shown = "";

  constructor(
    private readonly scene: Scene,
    private readonly clock: Clock,
  ) {
    this.node.append(this.title, this.list);
    this.node.hidden = true;
  }

  refresh(): void {
    const { groups, count } = this.scene.events;
    const last = groups[groups.length - 1];
    const now = `${count} ${last?.begin} ${last?.end}`; // another run may have as many
    if (now === this.shown || document.activeElement === this.list) return;
    this.shown = now;
    this.node.hidden = count === 0;
    this.title.textContent = `Events: ${count}`;
    const texts = groups.slice(-LISTED).reverse();
    this.list.replaceChildren(
      ...texts.map((group) => {
        const until = group.end > group.begin ? `–${digits(group.end, 4)}` : "";
        const text = `${digits(group.begin, 4)}${until} s   ${group.words}`;
        return el("option", { text, title: text, attributes: { value: `${group.begin}` } });
      }),
    );
  }

  private go(): void {
    if (this.clock.playing) this.clock.setPlaying(false);
    this.clock.seek(+this.list.value);
  }
}
