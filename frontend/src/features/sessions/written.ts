// A conversation as a file.
import type { Client } from "../../net/client.svelte";
import type { Message } from "../../net/wire";
import { textOf } from "../../session/transcript";

export type Format = "md" | "jsonl" | "html";

/** whole reads the branch of a chat that is in use, from its beginning. */
export async function whole(client: Client, key: string): Promise<Message[]> {
  const all: Message[] = [];
  for (let after = 0; ; ) {
    const page = await client.call("hearth.sessions.export", { key, after, limit: 1000 });
    all.push(...page.messages);
    const last = page.messages.at(-1)?.__openclaw?.seq;
    if (!page.hasMore || !last) return all;
    after = last;
  }
}

export interface Names {
  title: string;
  you: string;
  hearth: string;
  when(ts: number): string;
}

const escaped = (s: string): string => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** spoken are the words of people and of answers. */
const spoken = (all: readonly Message[]): { who: "user" | "assistant"; text: string; ts: number }[] =>
  all.flatMap((m) => {
    const text = Array.isArray(m.content) ? textOf(m.content).trim() : "";
    return (m.role === "user" || m.role === "assistant") && text !== "" ? [{ who: m.role, text, ts: m.timestamp }] : [];
  });

/** written is a conversation as the text of a file. Nothing in it runs or loads anything. */
export function written(all: readonly Message[], format: Format, names: Names): string {
  if (format === "jsonl") return all.map((m) => `${JSON.stringify(m)}\n`).join("");
  const said = spoken(all);
  const name = (who: "user" | "assistant"): string => (who === "user" ? names.you : names.hearth);
  if (format === "md")
    return [`# ${names.title}`, ...said.map((s) => `## ${name(s.who)}, ${names.when(s.ts)}\n\n${s.text}`)].join("\n\n") + "\n";
  const parts = said.map(
    (s) =>
      `<article class="${s.who}"><h2>${escaped(name(s.who))} <time datetime="${new Date(s.ts).toISOString()}">` +
      `${escaped(names.when(s.ts))}</time></h2><p dir="auto">${escaped(s.text)}</p></article>`,
  );
  return `<!doctype html>
<html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>${escaped(names.title)}</title>
<style>:root{color-scheme:light dark}body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui}
p{white-space:pre-wrap;overflow-wrap:anywhere}h2{font-size:.9rem;margin-bottom:0}time{font-weight:400;opacity:.7}</style></head>
<body><h1 dir="auto">${escaped(names.title)}</h1>
${parts.join("\n")}
</body></html>
`;
}

const unfit = /[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]+/g;

/** fileName is a title as every system takes it for a file. */
export function fileName(title: string, format: Format): string {
  const name = title.replace(unfit, " ").replace(/^[\s.]+|[\s.]+$/g, "");
  return `${[...name].slice(0, 80).join("") || "chat"}.${format}`;
}

export function save(text: string, name: string, format: Format): void {
  const types = { md: "text/markdown", jsonl: "application/x-ndjson", html: "text/html" };
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: `${types[format]};charset=utf-8` }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
