// Footnotes: from where one is meant to where it is written, within one answer.
import type { Row } from "../../session/rows";

const writes = (row: Row, id: string): boolean =>
  row.kind === "text" && row.blocks.some((b) => b.token.type === "footnote" && (b.token as { id?: string }).id === id);

/** noteRow is the row in which a note is written, looked for from the row of its mark on; -1 when there is none. */
export function noteRow(rows: readonly Row[], from: string, id: string): number {
  const at = rows.findIndex((r) => r.key === from);
  for (let i = Math.max(at, 0); i < rows.length && rows[i]!.kind !== "user"; i++) if (writes(rows[i]!, id)) return i;
  for (let i = at - 1; i >= 0 && rows[i]!.kind !== "user"; i--) if (writes(rows[i]!, id)) return i;
  return -1;
}

/** showNote brings a note into view and the focus to it. */
export function showNote(list: HTMLElement, row: string, id: string, tries = 20): void {
  const note = list.querySelector<HTMLElement>(`[data-row="${CSS.escape(row)}"] [data-note="${CSS.escape(id)}"]`);
  if (note) {
    note.tabIndex = -1;
    note.scrollIntoView({ block: "center" });
    note.focus({ preventScroll: true });
  } else if (tries > 0) requestAnimationFrame(() => showNote(list, row, id, tries - 1));
}
