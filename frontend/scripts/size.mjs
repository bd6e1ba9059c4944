// Prints what a first visit downloads (compressed) and fails above the budget.
// It also removes files in dist/ that the current index.html cannot reach, so
// that the binary never embeds an older build.
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const budget = 100 * 1024;
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const html = readFileSync(join(dist, "index.html"), "utf8");
const assets = join(dist, "assets");

const reachable = new Set();
const first = [];
const visit = (name) => {
  if (reachable.has(name)) return;
  reachable.add(name);
  if (named.has(name)) first.push(name);
  if (!/\.(js|css)$/.test(name)) return;
  const text = readFileSync(join(assets, name), "utf8");
  for (const [, other] of text.matchAll(/(?:assets\/|["'`(]\.\/)([\w.-]+\.(?:js|css|svg|woff2|png))/g)) visit(other);
};
const named = new Set([...html.matchAll(/\/assets\/([\w.-]+)/g)].map((m) => m[1]));
for (const name of named) visit(name);
for (const name of readdirSync(assets)) if (!reachable.has(name)) rmSync(join(assets, name));

const gz = (name) => gzipSync(readFileSync(join(assets, name)), { level: 9 }).length;
// A language is fetched when it is chosen, all of it.
const languageBudget = 24 * 1024;
const languages = grouped(
  readdirSync(assets).filter((name) => /^words-.*-(first|rest)-/.test(name)),
  (name) => /^words-(.*?)-(first|rest)-/.exec(name)[1],
);
/** grouped is Object.groupBy, which Node 20 has not. */
function grouped(names, by) {
  const out = {};
  for (const name of names) (out[by(name)] ??= []).push(name);
  return out;
}

const kb = (n) => (n / 1024).toFixed(1).padStart(6) + " KB";
let total = gzipSync(html, { level: 9 }).length;
for (const name of first) {
  total += gz(name);
  console.log(kb(gz(name)), "gz first", name);
}
for (const name of readdirSync(assets)) if (!first.includes(name)) console.log(kb(gz(name)), "gz later", name);
const all = readdirSync(assets).reduce((n, f) => n + statSync(join(assets, f)).size, 0);
// The page for phones is a build of its own below phone/.
const phoneBudget = 84 * 1024;
const phone = join(dist, "phone");
const phoneHtml = readFileSync(join(phone, "index.html"), "utf8");
let phoneTotal = gzipSync(phoneHtml, { level: 9 }).length;
for (const [, name] of phoneHtml.matchAll(/\/phone\/assets\/([\w.-]+)/g)) phoneTotal += gzipSync(readFileSync(join(phone, "assets", name)), { level: 9 }).length;
console.log(kb(phoneTotal), `gz first load of the page for phones (budget ${phoneBudget / 1024} KB)`);
console.log(kb(total), `gz first load (budget ${budget / 1024} KB);`, kb(all).trim(), "dist");
const large = Object.entries(languages).filter(([, names]) => names.reduce((n, name) => n + gz(name), 0) > languageBudget);
for (const [language] of large) console.error(`The words of ${language} are over their budget of ${languageBudget / 1024} KB.`);
if (large.length > 0) process.exit(1);
if (total > budget) {
  console.error(`The first load is over its budget by ${kb(total - budget).trim()}: look for a heavy import above.`);
  process.exit(1);
}
if (phoneTotal > phoneBudget) {
  console.error(`The page for phones is over its budget by ${kb(phoneTotal - phoneBudget).trim()}.`);
  process.exit(1);
}
