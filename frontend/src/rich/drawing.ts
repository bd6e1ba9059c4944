// Diagrams and charts above their source. What a frame drew is shown as a picture:
// in one nothing runs, loads or can be pressed.
import { tameSvg } from "../text/harmless";
import { draw, Late, type Drawn } from "./frames";
import { t } from "./words";
import "./drawing.css";

const isDark = (): boolean => document.documentElement.dataset["theme"] === "dark";

// What was drawn for the light is hard on the eyes in the dark, and the other way round.
new MutationObserver(() => {
  for (const old of document.querySelectorAll<HTMLImageElement>("figure.code[data-kind] img.drawn")) void again(old);
}).observe(document.documentElement, { attributeFilter: ["data-theme"] });

/** again draws a picture anew when it was drawn for the other theme; one that fails stays as it is. */
async function again(old: HTMLImageElement): Promise<void> {
  const figure = old.closest<HTMLElement>("figure.code");
  const source = figure?.querySelector("pre code")?.textContent ?? "";
  if (!figure || old.classList.contains("dark") === isDark()) return;
  const fresh = await picture(figure.dataset["kind"] as Drawn, source).catch(() => undefined);
  if (fresh && fresh.classList.contains("dark") === isDark()) old.replaceWith(fresh);
}

/** picture is what was drawn, as an image of its own measure. */
export async function picture(kind: Drawn, source: string): Promise<HTMLImageElement> {
  const dark = isDark();
  const svg = sized(await draw(kind, source, dark));
  if (!tameSvg(svg)) throw new Error(t("drawing.odd"));
  const img = document.createElement("img");
  img.className = dark ? "drawn dark" : "drawn";
  img.alt = t(kind === "chart" ? "drawing.chart" : "drawing.diagram");
  img.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  await img.decode();
  return img;
}

/** An image without a width takes all there is: it gets that of its view box. */
function sized(svg: string): string {
  const box = /^[^>]*viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  if (!box) return svg;
  const head = svg
    .slice(0, svg.indexOf(">"))
    .replace(/\s(?:width|height)="[^"]*"/g, "")
    .replace(/max-width:[^;"]*;?/, "");
  return `${head} width="${box[1]!}" height="${box[2]!}"${svg.slice(svg.indexOf(">"))}`;
}

/** drawing puts the picture into the figure of a code block and folds its source away. */
export async function drawing(code: HTMLElement, kind: Drawn): Promise<void> {
  const figure = code.closest<HTMLElement>("figure.code");
  const pre = code.closest("pre");
  const source = code.textContent ?? "";
  if (!figure || !pre || figure.dataset["drawing"] !== undefined || source.trim() === "") return;
  figure.dataset["drawing"] = "begun";
  let shown: HTMLElement;
  try {
    shown = await picture(kind, source);
  } catch (e) {
    figure.dataset["drawing"] = "failed";
    const p = document.createElement("p");
    p.className = "undrawn";
    p.dir = "auto";
    const why = e instanceof Error && !(e instanceof DOMException) ? e.message : "";
    p.textContent = e instanceof Late ? t("drawing.late") : t("drawing.failed", { why: why.split("\n").slice(0, 4).join("\n") });
    pre.before(p);
    return;
  }
  figure.dataset["drawing"] = "done";
  figure.dataset["kind"] = kind;
  const box = document.createElement("div");
  box.className = "drawing";
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", (shown as HTMLImageElement).alt);
  box.append(shown);
  const toggle = document.createElement("button");
  toggle.type = "button";
  toggle.className = "copy";
  pre.hidden = true;
  const say = (): void => {
    toggle.textContent = t(pre.hidden ? "drawing.source" : "drawing.hide");
    toggle.setAttribute("aria-expanded", String(!pre.hidden));
  };
  toggle.addEventListener("click", () => {
    pre.hidden = !pre.hidden;
    say();
  });
  say();
  pre.before(box);
  figure.querySelector("figcaption .copy")?.before(toggle);
}
