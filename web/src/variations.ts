// Numbers of a drawing that follow parameters: between the values at which a scene has them.
import { placeOf } from "./clock";
import { unpacked } from "./packed";
import type { Piece, Scene, Variation } from "./scene";
import { rowsOf } from "./solids";

/** A function that sets all numbers of a scene to values of parameters. */
export function variation(scene: Scene, bytes: Uint8Array, variations: Variation[]): (values: Record<string, number>) => void {
  const firsts = new Map<string, { list: number[]; base: number[] }>();
  for (const { entries } of variations)
    for (const { path } of entries) {
      const key = path.join("/");
      const list = listAt(scene, bytes, path);
      if (!firsts.has(key)) firsts.set(key, { list, base: [...list] });
    }
  return (values) => {
    for (const { list, base } of firsts.values()) base.forEach((x, k) => { list[k] = x; });
    for (const { parameter, values: known, entries } of variations) {
      if (!(parameter in values)) continue;
      const [k, part] = between(known, values[parameter]);
      const later = Math.min(k + 1, known.length - 1);
      for (const { path, numbers } of entries) {
        const { list, base } = firsts.get(path.join("/")) as { list: number[]; base: number[] };
        base.forEach((x, j) => {
          list[j] += (1 - part) * numbers[k][j] + part * numbers[later][j] - x;
        });
      }
    }
  };
}

/** A place among known values, and how far to the next; numbers on a line go on beyond their ends. */
function between(known: readonly number[], value: number): [number, number] {
  if (known.length > 2 || known[0] === known[1]) return placeOf(Float64Array.from(known), value);
  return [0, (value - known[0]) / (known[1] - known[0])];
}

/** Whether numbers of a drawing are not known at a value: beyond the ends, and not on a line. */
export function isBeyond({ values }: Variation, value: number | undefined): boolean {
  if (value === undefined || values.length <= 2) return false;
  const slack = 1e-9 * Math.abs(value);
  return value < values[0] - slack || value > values[values.length - 1] + slack;
}

/** The list at a path; corners of a surface are unpacked first. */
function listAt(scene: Scene, bytes: Uint8Array, path: (string | number)[]): number[] {
  const end = path[path.length - 1];
  const inner = path.slice(0, -1).reduce<unknown>((at, step) => (at as never)[step], scene);
  if (end !== "vertices") return (inner as Record<string | number, number[]>)[end];
  const piece = inner as Piece;
  if (!piece.vertices) throw new Error("a surface without corners");
  piece.points ??= [...rowsOf(unpacked(piece.vertices, bytes))];
  return piece.points;
}
