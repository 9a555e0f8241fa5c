// A page: reads the scene that stands in it and shows it.
import { App, type View } from "./app";
import { el } from "./dom";
import { followed } from "./served";
import { inflated } from "./packed";
import { readScene } from "./scene";
import { Simulation } from "./simulation";
import "./page.css";

declare global {
  interface Window {
    liaison?: View;
  }
}

function block(name: string): string | null {
  return document.getElementById(name)?.textContent ?? null;
}

function failed(root: HTMLElement, error: unknown): void {
  const words = error instanceof Error ? error.message : String(error);
  root.replaceChildren(
    el("p", { class: "failed", text: `This page cannot be shown: ${words}.`, attributes: { role: "alert" } }),
  );
}

/** A page in a frame: another scene comes from the page around it and takes the place of the first. */
function listen(root: HTMLElement, first: App, notices: string): void {
  let app = first;
  let next: { scene: string; data: string } | null = null;
  let isBusy = false;
  const take = async () => {
    isBusy = true;
    while (next) {
      const { scene, data } = next;
      next = null;
      try {
        const read = readScene(scene);
        const bytes = await inflated(data);
        if (next) continue;
        const kept = app.leave();
        app = new App(root, read, bytes, notices, null, kept);
        window.liaison = app.handle();
      } catch (error) {
        failed(root, error);
      }
    }
    isBusy = false;
  };
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || data?.kind !== "liaison" || typeof data.scene !== "string") return;
    next = { scene: data.scene, data: String(data.data) };
    if (!isBusy) void take();
  });
  window.parent.postMessage({ kind: "liaison-ready" }, "*");
}

async function start(): Promise<void> {
  const root = document.getElementById("liaison");
  if (!root) return;
  try {
    const scene = readScene(block("scene") ?? "{}");
    const bytes = await inflated(block("data") ?? "");
    const notices = JSON.parse(block("notices") ?? '""') as string;
    const engine = block("engine");
    const simulation = engine
      ? await Simulation.open(JSON.parse(engine) as string, await inflated(block("module") ?? ""), scene, bytes)
      : null;
    const app = new App(root, scene, bytes, notices, simulation);
    window.liaison = app.handle();
    const live = block("served");
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (live) {
      const { state } = JSON.parse(live) as { state: string };
      const note = el("p", { class: "gone", text: "The server of this view has ended.", attributes: { role: "status" } });
      void followed(app.clock, state, () => root.append(note));
    } else if (!calm) app.clock.setPlaying(true);
    if (window.parent !== window && !simulation && !live) listen(root, app, notices);
    root.dataset.ready = "yes";
  } catch (error) {
    failed(root, error);
  }
}

void start();
