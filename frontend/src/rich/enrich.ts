// What a finished block of an answer gets beside its words: formulas, drawings,
// tables that can be sorted, pictures from elsewhere. It comes when the first such
// block is there, and brings the large parts only for what is in it.
import { load } from "../i18n/words.svelte";
import { offer } from "./artifact";
import { remote } from "./remote";
import { table } from "./table";

let words: Promise<void> | undefined;

/** enrich adds to the nodes of a block that no longer changes. */
export async function enrich(el: HTMLElement): Promise<void> {
  words ??= load("rich").catch(() => undefined);
  await words;
  if (!el.isConnected) await new Promise(requestAnimationFrame); // a row is built before it is put into the page
  const formulas = el.querySelectorAll<HTMLElement>(".math");
  if (formulas.length > 0) void import("./formula").then((m) => formulas.forEach(m.formula)).catch(later);
  el.querySelectorAll<HTMLElement>(".table").forEach(table);
  el.querySelectorAll<HTMLElement>(".remote").forEach(remote);
  for (const code of el.querySelectorAll<HTMLElement>("figure.code code")) {
    const lang = code.dataset["lang"] ?? "";
    const kind = drawn[lang];
    if (kind) void import("./drawing").then((m) => m.drawing(code, kind)).catch(later);
    else if (lang === "math" || lang === "latex" || lang === "tex") void import("./formula").then((m) => m.fenced(code, lang)).catch(later);
    offer(code);
  }
}

const drawn: Record<string, "diagram" | "chart" | undefined> = Object.assign(Object.create(null) as object, {
  mermaid: "diagram",
  "vega-lite": "chart",
  vegalite: "chart",
} as const);

/** What did not come, because the gateway is away, comes when the row is shown again. */
const later = (): undefined => undefined;
