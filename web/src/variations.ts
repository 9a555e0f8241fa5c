// Numbers of a drawing that follow parameters: between the values at which a scene has them.
import { placeOf } from "./clock";
import type { Scene, Variation } from "./scene";

/** A function that sets all numbers of a scene to values of parameters. */
export function variation(scene: Scene, variations: Variation[]): (values: Record<string, number>) => void {
  const firsts = new Map<string, { list: number[]; base: number[] }>();
  for (const { entries } of variations)
    for (const { path } of entries) {
      const key = path.join("/");
      const list = path.reduce<unknown>((at, step) => (at as never)[step], scene) as number[];
      if (!firsts.has(key)) firsts.set(key, { list, base: [...list] });
    }
  return (values) => {
    for (const { list, base } of firsts.values()) base.forEach((x, k) => { list[k] = x; });
    for (const { parameter, values: known, entries } of variations) {
      if (!(parameter in values)) continue;
      const [k, part] = placeOf(Float64Array.from(known), values[parameter]);
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
