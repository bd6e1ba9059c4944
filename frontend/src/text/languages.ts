// The lazy part: highlight.js with the languages people meet in chats. Its own
// HTML output is not used; a small emitter collects pieces instead.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import php from "highlight.js/lib/languages/php";
import powershell from "highlight.js/lib/languages/powershell";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

export interface Piece {
  kind: string;
  text: string;
}

const languages = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, makefile, php, powershell, python, r,
  ruby, rust, sql, swift, typescript, xml, yaml,
};

// What the style sheet knows. A scope such as "title.function" is looked up
// whole, then by its first word.
const kinds: Record<string, string> = Object.assign(Object.create(null), {
  keyword: "keyword", built_in: "type", type: "type", literal: "number", number: "number", operator: "",
  string: "string", regexp: "string",
  comment: "comment", doctag: "comment", quote: "comment", title: "title", function: "title",
  name: "keyword", attr: "attr", attribute: "attr",
  variable: "attr", params: "", meta: "meta", section: "title", symbol: "number", bullet: "number", addition: "added", deletion: "removed",
  tag: "", property: "attr", "selector-tag": "keyword", "selector-class": "title", "selector-id": "title", "template-variable": "attr",
  link: "string",
});

const kindOf = (scope: string): string => kinds[scope] ?? kinds[scope.split(".")[0]!] ?? "";

class Pieces {
  list: Piece[] = [];
  private scopes: string[] = [];
  addText(text: string): void {
    if (text === "") return;
    const kind = this.scopes.at(-1) ?? "";
    const last = this.list.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.list.push({ kind, text });
  }
  startScope(scope: string): void {
    this.scopes.push(kindOf(scope) || (this.scopes.at(-1) ?? ""));
  }
  endScope(): void {
    this.scopes.pop();
  }
  openNode(scope: string): void {
    this.startScope(scope);
  }
  closeNode(): void {
    this.endScope();
  }
  __addSublanguage(other: Pieces): void {
    for (const p of other.list) this.list.push(p);
  }
  finalize(): void {}
  toHTML(): string {
    return "";
  }
}

type Engine = typeof hljs & { configure(o: { __emitter: typeof Pieces }): void };

const engine = (() => {
  const e = hljs.newInstance() as Engine;
  e.configure({ __emitter: Pieces });
  for (const [name, language] of Object.entries(languages)) e.registerLanguage(name, language);
  e.registerAliases(["sh", "shell", "zsh", "console"], { languageName: "bash" });
  e.registerAliases(["json5", "jsonc"], { languageName: "json" });
  e.registerAliases(["svelte", "vue"], { languageName: "xml" });
  e.registerAliases(["toml"], { languageName: "ini" });
  return e;
})();

/** pieces returns null for an unknown language or when nothing was coloured. */
export function pieces(text: string, lang: string): Piece[] | null {
  if (!engine.getLanguage(lang)) return null;
  const result = engine.highlight(text, { language: lang, ignoreIllegals: true }) as unknown as { _emitter: Pieces };
  const list = result._emitter.list;
  // Anything but the exact text would be a defect; the plain text stays then.
  return list.map((p) => p.text).join("") === text ? list : null;
}
