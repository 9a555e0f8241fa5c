// Types of liaison_run.js. SI units throughout, angles in rad; outputs in the units they are declared with.

/** An error in words, with advice and what kind it is. */
export declare class LiaisonError extends Error {
  /** "argument", "unknown name", "assembly" or "fixed instants". */
  readonly status: string;
  readonly hint: string;
}

export interface Quantity {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
}

export interface Parameter extends Quantity {
  readonly low: number | null;
  readonly high: number | null;
}

export interface Input extends Quantity {
  /** It follows a formula and cannot be set. */
  readonly driven: boolean;
}

export interface Info {
  readonly name: string;
  readonly coordinates: readonly Quantity[];
  readonly speeds: readonly Quantity[];
  readonly parameters: readonly Parameter[];
  readonly inputs: readonly Input[];
  /** Names for `Run.series`. */
  readonly series: readonly string[];
  /** Of every series: names and sizes of its parts. A pose is R row by row, then the place. */
  readonly layout: Readonly<Record<string, readonly (readonly [string, number])[]>>;
  readonly events: readonly string[];
  /** Contacts and other unilateral constraints. */
  readonly contacts: readonly string[];
  readonly method: string;
  /** The fixed step; null where the method chooses. */
  readonly step: number | null;
  readonly until: number;
  /** Whether `start` and `guess` may be given, and loops close after a change of lengths. */
  readonly assembles: boolean;
  /** Coordinates that are parts of attitudes and cannot be set one by one. */
  readonly curved: readonly string[];
}

export interface State {
  t?: number;
  q: ArrayLike<number>;
  v: ArrayLike<number>;
}

export interface StartOptions {
  parameters?: Record<string, number>;
  inputs?: Record<string, number>;
  /** A whole state, on its closures. */
  state?: State;
  /** Positions and speeds that are held while the loops close, by name. */
  start?: Record<string, number>;
  /** Positions and speeds near which the loops close. */
  guess?: Record<string, number>;
  /** An assembly mode: a position at the module's own values, and the coordinates that starts hold in it. */
  near?: { q: ArrayLike<number>; held: readonly string[] };
  until?: number;
  step?: number;
  /** Period of recording; null for every step. */
  every?: number | null;
  rtol?: number;
  atol?: number;
  maxStep?: number;
  maxSteps?: number;
}

export interface Budget {
  /** Goes on until this time is reached or passed. */
  until?: number;
  steps?: number;
  milliseconds?: number;
}

export interface Status {
  readonly status: "running" | "done" | "stopped" | "failed" | "suspect";
  /** The time of the last good state. */
  readonly t: number;
  /** Of a failure, in a word or two; otherwise empty. */
  readonly reason: string;
  readonly message: string;
  readonly hint: string;
  readonly steps: number;
  readonly rejected: number;
  readonly evaluations: number;
  readonly projections: number;
  /** null where it is not watched. */
  readonly energy: EnergyBalance | null;
}

/** What the energy is off by at most [J], beyond what the work is not known to; when [s]; what is turned over [J]. */
export interface EnergyBalance {
  readonly missed: number;
  /** To what the work of loads is known; it grows at inputs that change within a step or two. */
  readonly doubt: number;
  readonly at: number;
  readonly turnedOver: number;
  /** By more than any step explains: the run ends as "suspect". */
  readonly isOff: boolean;
}

/** Recorded states; arrays hold them row by row. */
export interface Rows {
  readonly count: number;
  readonly t: Float64Array;
  readonly q: Float64Array;
  readonly v: Float64Array;
  readonly u: Float64Array;
}

export interface Happened {
  readonly t: number;
  /** "event", "jump", or of a contact: "impact", "closes", "opens", "sticks", "slips", … */
  readonly what: string;
  readonly name: string;
  readonly q: Float64Array;
  readonly v: Float64Array;
}

/** Runs of one mechanism, one after the other. */
export declare class Run {
  constructor(module: WebAssembly.Module);
  static load(source: BufferSource | Response): Promise<Run>;
  readonly info: Info;
  /** The run is at its end, was stopped by an event, or failed. */
  readonly isOver: boolean;
  /** Begins a run; throws where the loops cannot close. */
  start(options?: StartOptions): Required<State>;
  advance(budget?: Budget): Status;
  /** Holds an input at another value from now on. */
  setInput(name: string, value: number): void;
  status(): Status;
  /** The last good state. */
  state(): Required<State>;
  /** Recorded states since the last call. */
  take(): Rows;
  /** Events since the last call, by time. */
  takeEvents(): Happened[];
  /** A series at recorded states, row by row; those of contacts at states in the order of `take`. */
  series(name: string, rows: Rows): Float64Array;
}
