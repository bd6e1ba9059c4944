// Which code blocks are things of their own: pages, pictures, texts and longer code,
// which can be opened beside the conversation.
import { t } from "./words";

/** Artifact is one such block: its title also tells which blocks are versions of it. */
export interface Artifact {
  kind: "html" | "svg" | "markdown" | "diagram" | "chart" | "code";
  lang: string;
  title: string;
  /** the block has a name of its own: later ones with the same are versions */
  named: boolean;
  source: string;
}

/** asked is the event by which a block asks the page to open it. */
export const asked = "hearth-artifact";

const kinds: Record<string, Artifact["kind"] | undefined> = Object.assign(Object.create(null) as object, {
  html: "html",
  svg: "svg",
  markdown: "markdown",
  md: "markdown",
  mermaid: "diagram",
  "vega-lite": "chart",
  vegalite: "chart",
} as const);

const longCode = 12;

/** artifactOf is what a code block is, or null for a few lines of code. */
export function artifactOf(lang: string, name: string, source: string): Artifact | null {
  let kind = kinds[lang];
  if (lang === "xml" && /^\s*(?:<\?xml[^>]*>\s*)?<svg[\s/>]/.test(source)) kind = "svg";
  if (!kind && (name !== "" || source.split("\n", longCode + 1).length > longCode)) kind = "code";
  if (!kind || source.trim() === "") return null;
  const title = name || titleIn(kind, source);
  return { kind, lang, title: title || t(`artifact.${kind}`), named: title !== "", source };
}

/** titleIn is what a text calls itself. */
function titleIn(kind: Artifact["kind"], source: string): string {
  const head = source.slice(0, 4000);
  const found =
    kind === "html" || kind === "svg"
      ? /<title[^>]*>\s*([^<]{1,80}?)\s*<\/title>/i.exec(head)?.[1]
      : kind === "markdown"
        ? /^#{1,2}\s+(.{1,80}?)\s*#*$/m.exec(head)?.[1]
        : kind === "chart" || kind === "diagram"
          ? /^\s*(?:"title"\s*:\s*"([^"]{1,80})"|title:?\s+(.{1,80}))/m.exec(head)?.slice(1).find(Boolean)
          : undefined;
  return (found ?? "").trim();
}

/** offer puts a button at such a block, where the page around has a place for it. */
export function offer(code: HTMLElement): void {
  const caption = code.closest("figure.code")?.querySelector("figcaption");
  if (!caption || caption.querySelector(".open") || code.closest("[data-artifacts]") === null) return;
  const read = (): Artifact | null => artifactOf(code.dataset["lang"] ?? "", code.dataset["name"] ?? "", code.textContent ?? "");
  const what = read();
  if (!what) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy open";
  button.textContent = t("artifact.open");
  button.setAttribute("aria-label", t("artifact.openNamed", { title: what.title }));
  button.addEventListener("click", () => code.dispatchEvent(new CustomEvent(asked, { bubbles: true, detail: read() })));
  caption.querySelector(".copy")?.before(button);
}
