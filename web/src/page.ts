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
    root.dataset.ready = "yes";
  } catch (error) {
    failed(root, error);
  }
}

void start();
