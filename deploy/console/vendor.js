// Write the libraries of the console, with their licences and hashes, to the folder that a wheel ships.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

const FOLDER = "../../cluster/service/console/static/vendor";
const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

const { metafile } = await build({
  entryPoints: ["libraries.js", "editor.js"], outdir: FOLDER, bundle: true, format: "esm", target: "es2022",
  minify: true, metafile: true, legalComments: "none", logLevel: "info",
});
copyFileSync("node_modules/uplot/dist/uPlot.min.css", `${FOLDER}/uplot.css`);

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
const folders = Object.keys(metafile.inputs).map((path) => path.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]);
const packages = [...new Set(folders.filter(Boolean))].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  return { name, version, license, integrity: lock[folder].integrity, folder };
});
const texts = packages.map(({ name, version, folder }) => {
  const path = `${folder}/LICENSE`;
  if (!existsSync(path)) throw new Error(`${name} has no file LICENSE`);
  return `${name} ${version}\n\n${readFileSync(path, "utf8").trim()}\n`;
});
writeFileSync(`${FOLDER}/LICENSES.txt`, texts.join(`\n${"-".repeat(80)}\n\n`));

const files = ["LICENSES.txt", "editor.js", "libraries.js", "uplot.css"];
const manifest = {
  packages: packages.map(({ folder, ...rest }) => rest),
  files: Object.fromEntries(files.map((name) => [name, sha256(`${FOLDER}/${name}`)])),
};
writeFileSync(`${FOLDER}/manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
