// What simulates in a page: the interface, and its other end in a Worker made from a Blob.

export interface Quantity {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
}

export interface Info {
  readonly name: string;
  readonly coordinates: readonly Quantity[];
  readonly speeds: readonly Quantity[];
  readonly parameters: readonly (Quantity & { low: number | null; high: number | null })[];
  readonly inputs: readonly (Quantity & { driven: boolean })[];
  readonly layout: Readonly<Record<string, readonly (readonly [string, number])[]>>;
  readonly assembles: boolean;
  readonly curved: readonly string[];
  readonly method: string;
}

export interface Status {
  readonly status: "running" | "done" | "stopped" | "failed" | "suspect";
  readonly t: number;
  readonly message: string;
  readonly hint: string;
  readonly steps: number;
  readonly energy: { readonly missed: number; readonly doubt: number; readonly turnedOver: number; readonly isOff: boolean } | null;
}

/** Recorded states: instants, numbers of every series row by row, and how the run stands. */
export interface Rows {
  readonly count: number;
  readonly t: Float64Array;
  readonly q: Float64Array;
  readonly v: Float64Array;
  readonly series: Readonly<Record<string, Float64Array>>;
  readonly events: readonly { t: number; what: string; name: string }[];
}

/** A mechanism that simulates. What it cannot do raises an error in words. */
export interface Engine {
  readonly info: Info;
  /** Values by name; the run begins again, with its loops closed. */
  setParameters(values: Record<string, number>): void;
  /** Inputs held at values from now on. */
  setInputs(values: Record<string, number>): void;
  /** Positions and speeds at the start; the run begins again. */
  setStart(values: Record<string, number>): void;
  /** All that a run begins with, at once. */
  begin(from: Beginning): void;
  /** A force that draws a body to a place of the world, by its three inputs; null: none. */
  drag(inputs: readonly string[], force: readonly number[] | null): void;
  /** Goes on to a time, as far as so many milliseconds suffice. */
  advance(until: number, milliseconds: number): Rows;
  state(): { t: number; q: Float64Array; v: Float64Array };
  status(): Status;
}

/** What a run begins with: values that are not the module's, and an assembly mode that is not its own. */
export interface Beginning {
  parameters: Record<string, number>;
  start: Record<string, number>;
  near: { q: readonly number[]; held: readonly string[] } | null;
}

export type Order =
  | { kind: "open"; module: Uint8Array; every: number; ahead: number }
  | ({ kind: "begin"; serial: number } & Beginning)
  | { kind: "input"; values: Record<string, number> }
  | { kind: "drag"; inputs: readonly string[]; force: readonly number[] | null }
  | { kind: "advance"; serial: number; until: number; milliseconds: number };

export type Answer =
  | { kind: "ready"; info: Info }
  | { kind: "rows"; serial: number; rows: Rows; status: Status }
  | { kind: "begun"; serial: number; milliseconds: number }
  | { kind: "failed"; serial: number; message: string };

declare const WORKER: string;

/** A worker from texts alone: the script of the engine, then ours. */
export function makeWorker(script: string): Worker {
  const url = URL.createObjectURL(new Blob([script, "\n", WORKER], { type: "text/javascript" }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  return worker;
}
