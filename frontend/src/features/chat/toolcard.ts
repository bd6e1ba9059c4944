// What the cards of tools show.
import type { WireBlock } from "../../net/wire";
import type { Tool } from "../../session/live";
import { isCell, text } from "./tooltitle";
import { t } from "./words";

/** parentOf is the program that made a call; calls of a program are named after it. */
export function parentOf(tool: Tool, tools: Tool[]): Tool | undefined {
  const at = tool.id.lastIndexOf("/");
  return at < 0 ? undefined : tools.find((p) => p.id === tool.id.slice(0, at) && isCell(p));
}

export const nestedOf = (cell: Tool, tools: Tool[]): Tool[] => tools.filter((x) => parentOf(x, tools) === cell);

/** Said is what a program put out, or what came of it. */
export interface Said {
  output: { type: string; text: string }[];
  value: string;
  error: string;
  status: string;
  /** it was too much to be kept apart: the result has it all */
  cut: boolean;
}

const pretty = (v: unknown): string => (typeof v === "string" ? v : JSON.stringify(v, null, 2));

export function said(tool: Tool): Said {
  const d = (tool.details ?? {}) as Record<string, unknown>;
  const output = Array.isArray(d["output"]) ? (d["output"] as Record<string, unknown>[]) : [];
  const line = typeof d["line"] === "number" ? t("cell.line", { n: String(d["line"]) }) : "";
  return {
    output: output.map((o) => ({
      type: o["type"] === "json" ? "json" : "text",
      text: o["type"] === "json" ? pretty(o["value"]) : text(o, "text"),
    })),
    value: "value" in d && d["value"] !== null ? pretty(d["value"]) : "",
    error: [text(d, "error"), line].filter((s) => s !== "").join(" "),
    status: text(d, "status"),
    cut: d["detailsTruncated"] === true,
  };
}

export interface Change {
  path: string;
  diff: string;
  added: number;
  removed: number;
}

const isChange = (v: unknown): v is Change => typeof (v as Change | null)?.diff === "string" && (v as Change).diff !== "";

/** changes are what a tool did to files. */
export function changes(tool: Tool): Change[] {
  const d = tool.details as { files?: unknown } | null | undefined;
  const list = Array.isArray(d?.files) ? (d.files as unknown[]) : [d];
  return list.filter(isChange).map((c) => ({ path: c.path ?? "", diff: c.diff, added: c.added ?? 0, removed: c.removed ?? 0 }));
}

/** filesOf counts the files that some tools read or changed. */
export function filesOf(tools: Tool[]): number {
  const paths = new Set<string>();
  for (const tool of tools) {
    for (const c of changes(tool)) if (c.path) paths.add(c.path);
    if (tool.name === "read" || tool.name === "write" || tool.name === "edit") {
      const path = text(tool.input, "path");
      if (path && ![...paths].some((p) => p.endsWith(path))) paths.add(path);
    }
  }
  return paths.size;
}

export interface Line {
  kind: "add" | "del" | "hunk" | "same";
  text: string;
}

const mostLines = 2_000;

/** diffLines splits a unified diff; the lines that name the files are left out. */
export function diffLines(diff: string): Line[] {
  const out: Line[] = [];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if (out.length >= mostLines) {
      out.push({ kind: "hunk", text: "…" });
      break;
    }
    if (out.length === 0 && (line.startsWith("--- ") || line.startsWith("+++ ") || line.startsWith("diff "))) continue;
    const kind = line.startsWith("@@") ? "hunk" : line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "same";
    out.push({ kind, text: line });
  }
  return out;
}

export interface Step {
  step: string;
  status: string;
}

/** plan is the list of an update_plan. */
export function plan(tool: Tool): Step[] {
  const d = (tool.details ?? tool.input) as { plan?: unknown } | null | undefined;
  if (tool.name !== "update_plan" || !Array.isArray(d?.plan)) return [];
  return (d.plan as Step[]).filter((s) => typeof s?.step === "string");
}

/** pictures that a device gave, as the blocks of messages name them. */
export function pictures(tool: Tool): WireBlock[] {
  const d = tool.details as { media?: unknown } | null | undefined;
  if (!Array.isArray(d?.media)) return [];
  return (d.media as WireBlock[]).filter((m) => m?.type === "image" && typeof m.mediaId === "string" && m.mediaId !== "");
}

/** facts are what else the gateway says of a result: an exit code, a sandbox. */
export function facts(tool: Tool): string[] {
  const d = tool.details as Record<string, unknown> | null | undefined;
  if (!d || tool.name !== "exec") return [];
  const out: string[] = [];
  if (typeof d["node"] === "string" && d["node"]) out.push(d["node"]);
  if (typeof d["cwd"] === "string" && d["cwd"]) out.push(t("tool.in", { dir: d["cwd"] }));
  if (typeof d["exitCode"] === "number" && d["exitCode"] !== 0) out.push(t("tool.exit", { n: String(d["exitCode"]) }));
  if (typeof d["signal"] === "string" && d["signal"]) out.push(t("tool.signal", { name: d["signal"] }));
  if (typeof d["sandbox"] === "string" && d["sandbox"]) out.push(d["sandbox"]);
  if (d["truncated"] === true) out.push(t("tool.cut"));
  return out;
}
