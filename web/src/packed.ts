// Packed arrays of a scene: inflated once, read by their entries.
import type { Packed } from "./scene";

/** Numbers by column and row. */
export class Table {
  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly data: Float64Array,
  ) {}

  at(row: number, column: number): number {
    return this.data[column * this.rows + row];
  }

  column(k: number): Float64Array {
    return this.data.subarray(k * this.rows, (k + 1) * this.rows);
  }
}

/** The bytes behind base64 and deflate. */
export async function inflated(base64: string): Promise<Uint8Array> {
  const letters = atob(base64.trim());
  const bytes = Uint8Array.from(letters, (x) => x.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The numbers of an entry. */
export function unpacked(entry: Packed, bytes: Uint8Array): Table {
  const rows = entry.shape[0];
  const columns = entry.shape.slice(1).reduce((a, b) => a * b, 1);
  const count = rows * columns;
  const data = new Float64Array(count);
  const at = entry.at;
  if (entry.kind === "u16") {
    const low = entry.low as number[];
    const step = entry.step as number[];
    for (let c = 0, k = 0; c < columns; c++)
      for (let r = 0, value = 0; r < rows; r++, k++) {
        value = (value + bytes[at + k] + 256 * bytes[at + count + k]) & 0xffff;
        data[k] = low[c] + step[c] * value;
      }
  } else if (entry.kind === "u8") {
    for (let k = 0; k < count; k++) data[k] = bytes[at + k];
  } else {
    const words = new Uint8Array(4 * count);
    for (let plane = 0; plane < 4; plane++)
      for (let k = 0; k < count; k++) words[4 * k + plane] = bytes[at + plane * count + k];
    data.set(entry.kind === "f32" ? new Float32Array(words.buffer) : new Uint32Array(words.buffer));
  }
  return new Table(rows, columns, data);
}
