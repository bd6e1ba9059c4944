// Markdown tokens to DOM nodes, one constructor per kind. Nothing here parses
// markup: words of a message only ever become text nodes, classes and
// attributes come from this file, and addresses from links.ts.
import { t } from "../i18n/t";
import { decode } from "./entities";
import type { Footnote } from "./extensions";
import { harmless } from "./harmless";
import { colour } from "./highlight";
import { isPlain, limits, type Token, type Tokens } from "./lexer";
import { safeLink } from "./links";
import type { Formula } from "./math";

/** Elements that one block may make; what is left is shown as plain text. */
const budget = 6000;

class Builder {
  private left = budget;

  el<K extends keyof HTMLElementTagNameMap>(tag: K, className = ""): HTMLElementTagNameMap[K] {
    this.left--;
    const e = document.createElement(tag);
    if (className !== "") e.className = className;
    return e;
  }

  blocks(parent: Node, tokens: Token[]): void {
    for (const t of tokens) {
      if (this.left <= 0) parent.appendChild(this.plain(t.raw));
      else this.block(parent, t);
    }
  }

  block(parent: Node, token: Token): void {
    const t = token as Tokens.Generic;
    switch (t.type) {
      case "space":
      case "def":
        return;
      case "heading":
        return this.wrap(parent, this.el("h2", `h d${Math.min(6, t.depth)}`), t.tokens);
      case "paragraph":
        return this.wrap(parent, this.el("p"), t.tokens);
      case "text":
        return t.tokens ? this.inlines(parent, t.tokens) : void parent.appendChild(text(t.text));
      case "blockquote":
        return this.nest(parent, this.directed(this.el("blockquote"), t.raw), t.tokens ?? []);
      case "list":
        return this.list(parent, t as Tokens.List);
      case "code":
        return void parent.appendChild(this.code(t as Tokens.Code));
      case "table":
        return this.table(parent, t as Tokens.Table);
      case "hr":
        return void parent.appendChild(this.el("hr"));
      case "checkbox":
        return this.checkbox(parent, t.checked === true);
      case "math":
        return this.formula(parent, t as Formula);
      case "footnote":
        return this.footnote(parent, t as Footnote);
      case "picture":
        return t.open ? void parent.appendChild(this.plain(`![${t.alt}](…`)) : this.picture(parent, t.href, t.alt);
      default:
        // html, plain and whatever a later lexer may bring: as it was written
        parent.appendChild(this.plain(t.raw));
    }
  }

  private wrap(parent: Node, e: HTMLElement, tokens: Token[] | undefined): void {
    e.dir = "auto";
    this.inlines(e, tokens ?? []);
    parent.appendChild(e);
  }

  private nest(parent: Node, e: HTMLElement, tokens: Token[]): void {
    this.blocks(e, tokens);
    parent.appendChild(e);
  }

  /** dir="auto" does not look into children that have a direction of their own. */
  private directed<E extends HTMLElement>(e: E, raw: string): E {
    e.dir = direction(raw);
    return e;
  }

  private plain(raw: string): HTMLElement {
    const p = this.el("p", "plain");
    p.dir = "auto";
    p.textContent = raw.replace(/\n+$/, "");
    return p;
  }

  private list(parent: Node, t: Tokens.List): void {
    const e = this.el(t.ordered ? "ol" : "ul", t.loose ? "loose" : "");
    if (t.ordered && typeof t.start === "number" && t.start !== 1 && e instanceof HTMLOListElement) e.start = t.start;
    this.directed(e, t.raw);
    for (const item of t.items) {
      if (this.left <= 0) {
        const li = this.el("li");
        li.textContent = item.raw;
        e.appendChild(li);
      } else this.nest(e, this.el("li", item.task ? "task" : ""), item.tokens);
      if (this.left < -1000) break;
    }
    parent.appendChild(e);
  }

  private checkbox(parent: Node, checked: boolean): void {
    const box = this.el("span", checked ? "box done" : "box");
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", t(checked ? "md.done" : "md.open"));
    parent.appendChild(box);
  }

  private code(token: Tokens.Code): HTMLElement {
    const lang = language(token.lang);
    const figure = this.el("figure", "code");
    const caption = this.el("figcaption");
    const name = this.el("span", "lang");
    name.textContent = lang || t("md.text");
    const copy = this.el("button", "copy");
    copy.type = "button";
    copy.dataset.copy = "code";
    copy.textContent = t("copy");
    copy.setAttribute("aria-label", t("md.copyCode"));
    caption.append(name, copy);
    const pre = this.el("pre");
    pre.tabIndex = 0;
    const code = this.el("code");
    code.dir = "ltr";
    code.dataset.lang = lang;
    const called = nameIn(token.lang);
    if (called) code.dataset.name = called;
    code.append(token.text);
    pre.append(code);
    figure.append(caption, pre);
    return figure;
  }

  private table(parent: Node, token: Tokens.Table): void {
    const box = this.el("div", "table");
    box.tabIndex = 0;
    box.setAttribute("role", "group"); // no landmark: an answer may have many
    const table = this.el("table");
    this.directed(table, token.raw); // its columns follow what is written in it
    const head = this.el("thead");
    this.row(head, token.header, "th", table.dir);
    box.setAttribute(
      "aria-label",
      t("md.table", {
        columns: Array.from(head.querySelectorAll("th"), (c) => c.textContent)
          .slice(0, 8)
          .join(", "),
      }),
    );
    const body = this.el("tbody");
    const shown = token.rows.slice(0, limits.rows);
    let n = 0;
    for (; n < shown.length && this.left > 0; n++) this.row(body, shown[n]!, "td", table.dir);
    table.append(head, body);
    box.append(table);
    parent.appendChild(box);
    if (n < token.rows.length)
      parent.appendChild(
        this.plain(
          token.raw
            .split("\n")
            .slice(n + 2)
            .join("\n"),
        ),
      );
  }

  private row(parent: Node, cells: Tokens.TableCell[], tag: "th" | "td", dir: string): void {
    const tr = this.el("tr");
    for (const c of cells) {
      if (this.left <= 0) break;
      const cell = this.el(tag, c.align ? `align-${c.align}` : "");
      if (tag === "th") cell.setAttribute("scope", "col");
      // A cell stands where its column does, whatever direction its words have.
      let inner: HTMLElement = cell;
      if (direction(c.text) !== dir) cell.appendChild((inner = this.el("bdi")));
      this.inlines(inner, c.tokens);
      tr.appendChild(cell);
    }
    parent.appendChild(tr);
  }

  private inlines(parent: Node, tokens: Token[]): void {
    for (const token of tokens) {
      if (this.left <= 0) parent.appendChild(text(token.raw));
      else this.inline(parent, token as Tokens.Generic);
    }
  }

  private inline(parent: Node, t: Tokens.Generic): void {
    switch (t.type) {
      case "text":
        return t.tokens ? this.inlines(parent, t.tokens) : void parent.appendChild(text(decode(t.text)));
      case "escape":
        return void parent.appendChild(text(t.text));
      case "strong":
      case "em":
      case "del": {
        const e = this.el(t.type);
        this.inlines(e, t.tokens ?? []);
        return void parent.appendChild(e);
      }
      case "codespan": {
        const e = this.el("code", "inline");
        e.dir = "ltr";
        e.textContent = t.text;
        return void parent.appendChild(e);
      }
      case "br":
        return void parent.appendChild(this.el("br"));
      case "link":
        return this.link(parent, t as Tokens.Link);
      case "image":
        return this.image(parent, t as Tokens.Image);
      case "checkbox":
        return this.checkbox(parent, t.checked === true);
      case "math":
        return this.formula(parent, t as Formula);
      case "noteref":
        return this.noteref(parent, t.id);
      case "html":
        return void parent.appendChild(/^<br\s*\/?>$/i.test(t.raw) ? this.el("br") : text(t.raw));
      default:
        parent.appendChild(text(t.raw));
    }
  }

  private link(parent: Node, token: Tokens.Link): void {
    const words = document.createDocumentFragment();
    this.inlines(words, token.tokens ?? []);
    this.anchor(parent, token.href, words, token.raw);
  }

  /** Pictures from elsewhere are not loaded before somebody asks: it would tell who reads. */
  private image(parent: Node, token: Tokens.Image): void {
    if (token.href.startsWith("data:")) return this.picture(parent, token.href, token.text);
    const alt = decode(token.text).trim();
    const words = document.createDocumentFragment();
    words.append(t("md.image", { alt: alt || t("md.noAlt") }));
    this.anchor(parent, token.href, words, token.raw);
    const safe = safeLink(token.href, "");
    if (!safe?.href.startsWith("https:")) return;
    const remote = this.el("span", "remote");
    remote.dataset.src = safe.href;
    remote.dataset.alt = alt;
    parent.appendChild(remote); // rich/remote.ts puts a button there
  }

  /** A picture inside of the text; only pixels, and SVG as a picture, where it can do nothing. */
  private picture(parent: Node, href: string, alt: string): void {
    const words = decode(alt).trim() || t("md.noAlt");
    if (!harmless(href)) return void parent.appendChild(text(t("md.image", { alt: words })));
    const img = this.el("img", "inside");
    img.alt = words;
    img.loading = "lazy";
    img.src = href;
    parent.appendChild(img);
  }

  /** As it was written, until rich/formula.ts makes it a formula. */
  private formula(parent: Node, token: Formula): void {
    if (token.open) return void parent.appendChild(this.plain(token.raw));
    const e = this.el("span", token.display ? "math display" : "math");
    e.dir = "ltr";
    e.dataset.tex = token.source;
    e.textContent = token.raw.trim();
    parent.appendChild(e);
    if (token.after) e.dataset.after = token.after as string;
  }

  private footnote(parent: Node, token: Footnote): void {
    const p = this.el("p", "footnote");
    p.dir = "auto";
    p.dataset.note = token.id;
    const mark = this.el("sup");
    mark.textContent = token.id;
    p.append(mark, " ");
    this.inlines(p, token.tokens ?? []);
    parent.appendChild(p);
  }

  private noteref(parent: Node, id: string): void {
    const sup = this.el("sup");
    const button = this.el("button", "noteref");
    button.type = "button";
    button.dataset.noteref = button.textContent = id;
    button.setAttribute("aria-label", t("md.note", { id }));
    sup.append(button);
    parent.appendChild(sup);
  }

  private anchor(parent: Node, href: string, words: DocumentFragment, raw: string): void {
    const said = words.textContent ?? "";
    const safe = safeLink(href, said);
    if (!safe || said.trim() === "") return void parent.appendChild(text(raw));
    const a = this.el("a", safe.mismatch ? "mismatch" : "");
    a.href = safe.href;
    a.target = "_blank";
    a.rel = "noopener noreferrer";
    a.title = safe.href;
    a.append(words);
    if (safe.mismatch) a.dataset.confirm = safe.host;
    parent.appendChild(a);
    if (safe.shown) return;
    const host = this.el("span", "host");
    host.textContent = ` (${safe.host})`;
    parent.appendChild(host);
  }
}

/** direction is that of the first letter. */
function direction(raw: string): "rtl" | "ltr" {
  const first = /\p{L}/u.exec(raw)?.[0] ?? "";
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(first) ? "rtl" : "ltr";
}

const text = (s: string): Text => document.createTextNode(s);

/** language reduces a fence's info string to a name that is safe to show. */
export function language(info: string | undefined): string {
  return /^[A-Za-z0-9+#._-]{1,24}(?=$|[\s,{:])/.exec(info ?? "")?.[0].toLowerCase() ?? "";
}

/** nameIn is the title or file that a fence's info string names, or "". */
export function nameIn(info: string | undefined): string {
  const s = (info ?? "").slice(0, 300);
  const named = /\b(?:title|file|filename|name)=(?:"([^"]{1,80})"|([\w.-]{1,80}))/.exec(s);
  return (named?.[1] ?? named?.[2] ?? /(?:\s|:)([\w][\w./-]{0,70}\.\w{1,8})(?:\s|$)/.exec(s)?.[1] ?? "").trim();
}

/** renderBlock makes the element of one top-level token. */
export function renderBlock(token: Token): HTMLElement {
  const div = document.createElement("div");
  div.className = "block";
  new Builder().block(div, token);
  return div;
}

/**
 * growBlock brings an element from one token to a longer one of the same block
 * without making it anew, where that is cheap; false means it has to be made.
 */
export function growBlock(el: HTMLElement, from: Token, to: Token): boolean {
  if (isPlain(to) && isPlain(from)) return growText(el.querySelector("p.plain"), from.raw, to.raw.replace(/\n+$/, ""));
  if (from.type !== "code" || to.type !== "code") return false;
  const code = el.querySelector<HTMLElement>("figure.code code");
  if (!code || code.dataset.lang !== language((to as Tokens.Code).lang)) return false;
  return growText(code, (from as Tokens.Code).text, (to as Tokens.Code).text);
}

function growText(e: Element | null, from: string, to: string): boolean {
  const node = e?.firstChild;
  if (!(node instanceof Text) || e!.childNodes.length !== 1 || node.data !== from || !to.startsWith(from)) return false;
  node.appendData(to.slice(from.length));
  return true;
}

/** settleBlock does what only pays off once a block no longer changes. */
export function settleBlock(el: HTMLElement): void {
  for (const code of el.querySelectorAll<HTMLElement>("figure.code code")) {
    const lang = code.dataset.lang ?? "";
    if (lang !== "") colour(code, lang);
  }
  if (el.querySelector(".math, table, .remote, figure.code")) {
    // Without it the words are there all the same.
    import("../rich/enrich").then((m) => m.enrich(el)).catch(() => undefined);
  }
}
