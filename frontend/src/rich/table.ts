// Tables can be sorted by their heads and copied for a spreadsheet.
import { locale } from "../i18n/words.svelte";
import { copyText } from "../ui/clipboard";
import { t } from "./words";

/** table adds buttons to a finished one. */
export function table(box: HTMLElement): void {
  const grid = box.querySelector("table");
  if (!grid || box.dataset["done"] !== undefined) return;
  box.dataset["done"] = "";
  const body = grid.tBodies[0];
  const rows = [...(body?.rows ?? [])];
  if (body && rows.length > 1) [...grid.rows[0]!.cells].forEach((head, at) => sortable(head, at, body, rows));
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "csv";
  copy.textContent = t("table.csv");
  copy.addEventListener("click", () => {
    void copyText(csv(grid)).then((ok) => {
      copy.textContent = t(ok ? "table.copied" : "copy.failed");
      setTimeout(() => (copy.textContent = t("table.csv")), 1500);
    });
  });
  box.after(copy);
}

function sortable(head: HTMLTableCellElement, at: number, body: HTMLTableSectionElement, rows: HTMLTableRowElement[]): void {
  if (head.querySelector("a, button")) return; // it has something to press already
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.title = t("table.sort");
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const now = head.getAttribute("aria-sort");
    const next = now === "ascending" ? "descending" : now === "descending" ? "none" : "ascending";
    for (const other of head.parentElement!.children) other.removeAttribute("aria-sort");
    if (next !== "none") head.setAttribute("aria-sort", next);
    body.append(...(next === "none" ? rows : sorted(rows, at, next === "descending")));
  });
}

const said = (row: HTMLTableRowElement, at: number): string => row.cells[at]?.textContent.trim() ?? "";

/** number reads a cell as one, with its thousands, currency or unit in per cent; NaN when it is none. */
export function number(cell: string): number {
  let s = cell
    .replace(/[\s\u00a0\u202f'’_]/g, "")
    .replace(/^[~≈]/, "")
    .replace(/^([-+−]?)[€$£¥]|[€$£¥%]$/g, "$1")
    .replace(/^−/, "-");
  if (/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(s)) s = s.replaceAll(",", "");
  else if (/^[-+]?\d{1,3}(\.\d{3})+,\d+$/.test(s)) s = s.replaceAll(".", "").replace(",", ".");
  else s = s.replace(/^([-+]?\d+),(\d+)$/, "$1.$2");
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(s) ? Number(s) : NaN;
}

/** sorted orders rows by a column: as numbers where all are, else as words; empty cells stay last. */
export function sorted(rows: HTMLTableRowElement[], at: number, down: boolean): HTMLTableRowElement[] {
  const cells = rows.map((row) => ({ row, text: said(row, at), n: number(said(row, at)) }));
  const numeric = cells.every((c) => c.text === "" || !Number.isNaN(c.n));
  const words = new Intl.Collator(locale(), { numeric: true });
  const sign = down ? -1 : 1;
  return cells
    .sort((a, b) => {
      if ((a.text === "") !== (b.text === "")) return a.text === "" ? 1 : -1;
      return sign * (numeric ? a.n - b.n : words.compare(a.text, b.text));
    })
    .map((c) => c.row);
}

/** csv is the table as RFC 4180 has it. What a spreadsheet would take for a formula becomes words. */
export function csv(grid: HTMLTableElement): string {
  const cell = (e: Element): string => {
    let s = (e.textContent ?? "").trim();
    if (/^[=@\t\r]|^[-+](?![\d.,\s]*[%€$£¥]?$)/.test(s)) s = "'" + s;
    return /[",\r\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  };
  return [...grid.rows].map((r) => [...r.cells].map(cell).join(",") + "\r\n").join("");
}
