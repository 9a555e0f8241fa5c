// Bundles the front end into src/liaison/view/pages/built: one script, one style sheet, the module of
// the notebook's widget, and the licences of all packages in them. With an argument: into that folder.
import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../src/liaison/view/pages/built"));

const worker = await build({
  absWorkingDir: here,
  entryPoints: ["src/worker.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  write: false,
  logLevel: "warning",
});

const widget = await build({
  absWorkingDir: here,
  entryPoints: { explorer: "src/explorer.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  write: false,
  logLevel: "warning",
});

const result = await build({
  absWorkingDir: here,
  entryPoints: { page: "src/page.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  define: { WORKER: JSON.stringify(worker.outputFiles[0].text) },
  legalComments: "none",
  charset: "utf8",
  metafile: true,
  write: false,
  logLevel: "warning",
});

/** Names of the packages that are in the bundle. */
function packages(inputs) {
  const names = new Set();
  for (const path of Object.keys(inputs)) {
    const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (match) names.add(match[1]);
  }
  return [...names].sort();
}

/** Name, version and licence text of a package. */
function notice(name) {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((x) => /^licen[cs]e/i.test(x));
  if (!file) throw new Error(`${name} ${about.version} has no licence file; do not bundle it`);
  const text = readFileSync(join(folder, file), "utf8").trim();
  return `${name} ${about.version} (${about.license})\n\n${text}\n`;
}

const rule = `\n${"-".repeat(78)}\n\n`;
const notices = packages(result.metafile.inputs).map(notice).join(rule);
const files = Object.fromEntries(
  [...result.outputFiles, ...widget.outputFiles].map((file) => [file.path.split(/[\\/]/).pop(), file.text]),
);
files["notices.txt"] = notices;
// inlined in a page, nothing may end the element around it
for (const [name, text] of Object.entries(files))
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} would end its element`);

if (existsSync(out)) rmSync(out, { recursive: true });
mkdirSync(out, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(out, name), text);
  console.log(`${name.padEnd(12)} ${(Buffer.byteLength(text) / 1000).toFixed(0)} kB`);
}
