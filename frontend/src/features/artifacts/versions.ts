// The versions of an artifact: blocks of the same conversation with the same name.
import type { Row } from "../../session/rows";
import { language, nameIn } from "../../text/nodes";
import type { Block } from "../../text/stream";
import { artifactOf, type Artifact } from "../../rich/artifact";

const known = new WeakMap<Block, Artifact | null>();

function of(block: Block): Artifact | null {
  if (block.token.type !== "code") return null;
  let a = known.get(block);
  if (a === undefined) {
    const { lang, text } = block.token as { lang?: string; text: string };
    a = artifactOf(language(lang), nameIn(lang), text);
    known.set(block, a);
  }
  return a;
}

/** versions of one artifact, the oldest first; one without a name stands alone. */
export function versions(rows: readonly Row[], one: Artifact): Artifact[] {
  if (!one.named) return [one];
  const out: Artifact[] = [];
  for (const row of rows) {
    if (row.kind !== "text") continue;
    row.blocks.forEach((block, i) => {
      if (row.live && i >= row.settled) return;
      const a = of(block);
      if (a && a.named && a.kind === one.kind && a.title === one.title && out.at(-1)?.source !== a.source) out.push(a);
    });
  }
  return out.some((a) => a.source === one.source) ? out : [...out, one];
}

const endings: Record<string, string> = Object.assign(Object.create(null) as object, {
  javascript: "js", typescript: "ts", python: "py", markdown: "md", bash: "sh", shell: "sh", text: "txt",
});

/** fileName is a name under which an artifact can be kept, whatever its title is. */
export function fileName(a: Artifact): string {
  const ending =
    { html: "html", svg: "svg", markdown: "md", diagram: "mmd", chart: "vl.json", code: "" }[a.kind] ||
    endings[a.lang] ||
    (/^[a-z0-9]{1,8}$/.test(a.lang) ? a.lang : "txt");
  const base = (a.title.split("/").at(-1) ?? "")
    .replace(/[^\p{L}\p{N}._ -]+/gu, "_")
    .replace(/^[. ]+|[. ]+$/g, "")
    .slice(0, 60);
  return /\.\w{1,8}$/.test(base) ? base : `${base || "artifact"}.${ending}`;
}
