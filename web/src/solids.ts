// Solids of bodies and joints, from their pieces.
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color as Tint,
  CylinderGeometry,
  DoubleSide,
  FrontSide,
  Mesh,
  MeshStandardMaterial,
  SphereGeometry,
} from "three";
import { unpacked } from "./packed";
import type { Color, Piece } from "./scene";

export const BOX = new BoxGeometry(1, 1, 1);
export const BALL = new SphereGeometry(1, 32, 20);
/** Cylinders have their axis along z. */
export const PILLAR = new CylinderGeometry(1, 1, 1, 40).rotateX(Math.PI / 2);
export const CONE = new CylinderGeometry(0, 1, 1, 32).rotateX(Math.PI / 2).translate(0, 0, 0.5);
/** A cylinder from z = 0 to z = 1. */
export const SHAFT = new CylinderGeometry(1, 1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5);

export function tint(color: Color): Tint {
  return new Tint().setRGB(color[0] / 255, color[1] / 255, color[2] / 255, "srgb");
}

/** A surface of one color; below an opacity of 1 it is glass. */
export function material(color: Color, opacity = 1): MeshStandardMaterial {
  return new MeshStandardMaterial({
    color: tint(color),
    roughness: 0.55,
    metalness: 0.05,
    transparent: opacity < 1,
    opacity,
    depthWrite: opacity >= 1,
    side: opacity < 1 ? DoubleSide : FrontSide,
  });
}

export function solid(piece: Piece, bytes: Uint8Array, color = piece.color): Mesh {
  const look = material(color, piece.opacity);
  const mesh = new Mesh(geometry(piece, bytes, look), look);
  put(mesh, piece);
  mesh.castShadow = !piece.opacity;
  mesh.receiveShadow = true;
  return mesh;
}

/** A mesh where its piece says, and as large. */
export function put(mesh: Mesh, piece: Piece): void {
  const [a, b, c] = piece.size;
  if (piece.kind === "box") mesh.scale.set(a, b, c);
  else if (piece.kind === "cylinder") mesh.scale.set(a, a, b);
  else if (piece.kind === "sphere") mesh.scale.setScalar(a);
  mesh.position.set(...piece.place);
  const [w, x, y, z] = piece.turn;
  mesh.quaternion.set(x, y, z, w).normalize();
  if (piece.points) {
    const at = mesh.geometry.getAttribute("position") as BufferAttribute;
    at.set(piece.points);
    at.needsUpdate = true;
    mesh.geometry.computeVertexNormals();
  }
}

function geometry(piece: Piece, bytes: Uint8Array, look: MeshStandardMaterial): BufferGeometry {
  if (piece.kind === "box") return BOX;
  if (piece.kind === "cylinder") return PILLAR;
  if (piece.kind === "sphere") return BALL;
  if (!piece.vertices || !piece.faces) throw new Error("a mesh without triangles");
  look.side = DoubleSide;
  look.flatShading = !piece.smooth;
  const made = new BufferGeometry();
  const vertices = rowsOf(unpacked(piece.vertices, bytes));
  made.setAttribute("position", new BufferAttribute(Float32Array.from(vertices), 3));
  made.setIndex(new BufferAttribute(Uint32Array.from(rowsOf(unpacked(piece.faces, bytes))), 1));
  made.computeVertexNormals();
  return made;
}

/** Row after row. */
export function rowsOf(table: { rows: number; columns: number; data: Float64Array }): Float64Array {
  const out = new Float64Array(table.data.length);
  for (let c = 0; c < table.columns; c++)
    for (let r = 0; r < table.rows; r++) out[r * table.columns + c] = table.data[c * table.rows + r];
  return out;
}
