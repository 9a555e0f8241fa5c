// The scene as data: what a page draws. Written by liaison.view.pages.document; see
// docs/scene.md. Nothing here knows mechanics.

export const FORMAT = "liaison-scene";
export const VERSION = 1;

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; // w x y z
export type Color = [number, number, number]; // 0 to 255

/** Where an array lies among the packed bytes, and how it is read. */
export interface Packed {
  kind: "u16" | "f32" | "u8" | "u32";
  at: number;
  shape: number[];
  low?: number[];
  step?: number[];
}

export interface Piece {
  kind: "box" | "cylinder" | "sphere" | "mesh";
  size: number[];
  turn: Quat;
  place: Vec3;
  color: Color;
  opacity?: number;
  joint?: string;
  vertices?: Packed;
  /** The same as numbers, where they follow a parameter. */
  points?: number[];
  faces?: Packed;
  smooth?: boolean;
}

export interface Body {
  name: string;
  color: Color;
  ground: boolean;
  label: Vec3 | null;
  pieces: Piece[];
  struck: Packed | null;
}

export interface Joint {
  name: string;
  type: string;
  color: Color;
  body: number;
  place: Vec3;
}

/** A load along a length (`ends`) or about an axis (`body`, `place`, `axes`). */
export interface Load {
  name: string;
  kind: string;
  symbol: string;
  color: Color;
  beside: number;
  ends?: [[number, Vec3], [number, Vec3]];
  body?: number;
  place?: Vec3;
  axes?: number[];
}

export interface Force {
  name: string;
  body: number;
  place: Vec3;
  values: Packed;
}

export interface Contact {
  name: string;
  owner: string;
  placed: boolean;
  radius: number;
  points: Packed;
  forces: Packed;
  moments?: Packed;
  states: Packed;
  hits: Packed;
}

export interface State {
  word: string;
  color: Color;
  occurs: boolean;
}

export interface Trace {
  name: string;
  body: number;
  place: Vec3;
}

export interface EventGroup {
  begin: number;
  end: number;
  owner: string;
  count: number;
  words: string;
  hit: boolean;
}

export interface Column {
  name: string;
  group: string;
  unit: string;
  values: Packed;
}

export interface Series {
  times: Packed;
  columns: Column[];
  chosen: string[];
  recorded: number;
  error: number;
  units: Record<string, [string, number][]>;
}

export interface Scene {
  format: string;
  version: number;
  title: string;
  note: string;
  view: {
    up: Vec3;
    size: number;
    low: Vec3;
    high: Vec3;
    floor: number;
    position: Vec3;
    target: Vec3;
    angle: number;
    aspect: number;
    supports: Vec3[];
    /** The body that the camera goes with from the beginning, and the size of what it then shows. */
    follow: { body: number; size: number } | null;
  };
  times: Packed;
  speed: number;
  look: { frames: boolean; labels: boolean };
  bodies: Body[];
  poses: { places: Packed; turns: Packed; error: { place: number; angle: number } };
  joints: Joint[];
  loads: Load[];
  forces: Force[];
  contacts: Contact[];
  arrows: { force: number; moment: number; forceColor: Color; momentColor: Color };
  states: State[];
  traces: Trace[];
  strips: { name: string; spans: [number, number, number][] }[];
  events: { count: number; groups: EventGroup[] };
  series: Series;
  /** Of a page that simulates: numbers of the drawing at values of parameters. */
  variations?: Variation[];
  /** Parameters that the drawing does not follow. */
  stale?: string[];
  /** Pairs of parameters whose changes of the drawing do not add up. */
  crossed?: [string, string][];
  drag?: Dragged;
  about?: About;
  /** Assembly modes to choose from; the first is the mechanism's own. */
  modes?: AssemblyMode[];
  /** Where the numbers of `contacts` and `forces` come from, in their order. */
  live?: { contacts: LiveContact[]; forces: { name: string; axes: number[] }[]; columns: LiveColumns };
}

/** By series and part: names and units of its components, null where the motion does not determine them. */
export type LiveColumns = Record<string, ([string, string] | null)[]>;

/** A position near which loops close, and the coordinates whose starts hold in it. */
export interface AssemblyMode {
  title: string;
  q: number[];
  held: string[];
}

/** A place of contact by names of the engine's series; `aside` is how far it stands off its point. */
export interface LiveContact {
  name: string;
  block: string;
  sliding: string;
  rolls: boolean;
  pushes: boolean;
  turns: boolean;
  rows: string[];
  aside: Vec3;
}

/** What is known of a mechanism: a text, equations as HTML with MathML, a note. */
export interface About {
  mobility: string;
  equations: string;
  note: string;
  /** On the assembly modes. */
  modes?: string;
}

/** Bodies that a hand can draw: by which inputs, at which place, and how strongly. */
export interface Dragged {
  stiffness: number;
  damping: number;
  bodies: { body: number; place: Vec3; inputs: string[] }[];
}

/** Numbers by their path in the scene, at each of the values of a parameter. */
export interface Variation {
  parameter: string;
  values: number[];
  entries: { path: (string | number)[]; numbers: number[][] }[];
}

/** A scene from its text; an error where this front end cannot read it. */
export function readScene(text: string): Scene {
  const scene = JSON.parse(text) as Scene;
  if (scene.format !== FORMAT) throw new Error(`this is no scene: its format is “${scene.format}”`);
  if (scene.version !== VERSION)
    throw new Error(`the scene is of version ${scene.version}; this page reads version ${VERSION}`);
  return scene;
}
