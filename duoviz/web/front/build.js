// Builds duoviz/web/static from these modules: `npm run build`. With --check it says whether what is there is stale.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const STATIC = join(HERE, "../static");
const PAGE = ["visualizer", "race", "learn", "results", "share"];
const withoutProse = (key, value) => (key === "description" && typeof value === "string" ? undefined : value);
const slimSchemas = {
  name: "schemas without their descriptions",
  setup: (builder) => builder.onLoad({ filter: /\.schema\.json$/ }, async ({ path }) => (
    { loader: "json", contents: JSON.stringify(JSON.parse(await readFile(path, "utf8"), withoutProse)) }
  )),
};
const options = {
  absWorkingDir: HERE, bundle: true, minify: true, write: false, target: "es2022", charset: "utf8", metafile: true,
  legalComments: "none", plugins: [slimSchemas],
};

// The page's scripts share one chunk; their names change with what they hold, so that browsers may keep them for ever.
const buildPage = () => build({
  ...options, entryPoints: PAGE.map((name) => `entries/${name}.js`), outdir: STATIC, format: "esm", splitting: true, sourcemap: true,
  entryNames: "[name]-[hash]", chunkNames: "shared-[hash]",
});
// The replay is one file: its script imports nothing.
const buildReplay = () => build({ ...options, entryPoints: ["entries/replay.js"], outfile: join(STATIC, "replay.js"), format: "iife" });

function entriesOf({ outputs }) {
  const entries = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint);
  return Object.fromEntries(entries.map(([file, { entryPoint, imports }]) => (
    [basename(entryPoint, ".js"), [file, ...imports.map(({ path }) => path)].map((path) => basename(path))]
  )).sort());
}

async function built() {
  const [page, replay] = await Promise.all([buildPage(), buildReplay()]);
  const files = [...page.outputFiles, ...replay.outputFiles].map(({ path, text }) => [basename(path), text]);
  return new Map([...files, ["entries.json", `${JSON.stringify(entriesOf(page.metafile), null, 1)}\n`]]);
}

async function held() {
  const names = await readdir(STATIC).catch(() => []);
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(STATIC, name), "utf8")])));
}

const [files, before] = [await built(), await held()];
if (process.argv.includes("--check")) {
  const names = new Set([...files.keys(), ...before.keys()]);
  const stale = [...names].filter((name) => files.get(name) !== before.get(name));
  if (stale.length) {
    console.error(`duoviz/web/static is stale (${stale.join(", ")}): run \`npm run build\`.`);
    process.exit(1);
  }
} else {
  await rm(STATIC, { recursive: true, force: true });
  await mkdir(STATIC);
  for (const [name, text] of files) await writeFile(join(STATIC, name), text);
}
