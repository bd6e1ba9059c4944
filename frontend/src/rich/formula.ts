// Formulas by KaTeX. It makes elements from a tree of its own, never from a string;
// what could name an address or grow without end is off or bounded.
import katex from "katex";
import "katex/dist/katex.min.css";
import "./formula.css";
import { t } from "./words";

/** Elements that one formula may have; a usual one has some dozens. */
const most = 8000;

/** How deep braces may stand in braces. */
const deepest = 80;

// Who defines macros can make a short text long: those get little room.
const macros = /\\(?:[gex]?def|(?:re)?new(?:command|environment)|providecommand|(?:future)?let)(?![a-zA-Z])/;

/** formula replaces what was written by what it means; what cannot be read stays as it is. */
export function formula(e: HTMLElement): void {
  const source = e.dataset["tex"] ?? "";
  if (e.dataset["done"] !== undefined || source.trim() === "") return;
  e.dataset["done"] = "";
  const host = typeset(source, e.classList.contains("display"));
  if (typeof host === "string") {
    e.classList.add("unread");
    e.title = t("math.unread", { why: host });
    return;
  }
  const after = e.dataset["after"] ?? "";
  e.replaceChildren(...host.childNodes, after);
}

/** fenced does so with a code block whose language says that it is a formula. */
export function fenced(code: HTMLElement, lang: string): void {
  const figure = code.closest("figure");
  const source = code.textContent ?? "";
  // A whole document is code; one formula is what was meant.
  if (!figure || source.length > 3000 || (lang !== "math" && /\\(?:documentclass|usepackage|section|begin\{document)/.test(source))) return;
  if (lang !== "math" && !/^\s*(?:\\\[|\$\$|\\begin\{(?:equation|align|gather|matrix|pmatrix|cases))/.test(source)) return;
  const host = typeset(source.replace(/^\s*(?:\\\[|\$\$)|(?:\\\]|\$\$)\s*$/g, ""), true);
  if (typeof host === "string") return;
  host.className = "math display";
  host.dir = "ltr";
  figure.querySelector("pre")?.before(host);
}

/** typeset makes the elements of a formula, or says why it cannot. */
export function typeset(source: string, displayMode: boolean): HTMLElement | string {
  const defines = macros.test(source);
  if (source.length > (defines ? 600 : 4000) || depth(source) > deepest) return t("math.long");
  const host = document.createElement("span");
  try {
    katex.render(source.trim(), host, {
      displayMode,
      throwOnError: true,
      trust: false,
      strict: false,
      output: "htmlAndMathml",
      maxSize: 20,
      maxExpand: defines ? 60 : 800,
      macros: {},
    });
  } catch (e) {
    return (e instanceof Error ? e.message : String(e)).slice(0, 200);
  }
  return host.getElementsByTagName("*").length > most ? t("math.long") : host;
}

function depth(source: string): number {
  let now = 0;
  let most = 0;
  for (const c of source) {
    if (c === "{") most = Math.max(most, ++now);
    else if (c === "}") now--;
  }
  return most;
}
