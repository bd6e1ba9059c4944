// What a tool does, in words that fit on one line.
import type { Tool } from "../../chat/live";
import type { WireBlock } from "../../net/wire";
import { oneLine } from "../../app/sessions.svelte";
import { t, type LaterKey } from "../../i18n/later";
import type { IconName } from "../Icon.svelte";

export interface Title {
  icon: IconName;
  verb: string;
  /** what it is done to, in the type of code */
  object: string;
}

const text = (v: unknown, name: string): string => {
  const x = (v as Record<string, unknown> | null | undefined)?.[name];
  return typeof x === "string" ? x : "";
};

/** host keeps of an address what tells pages apart. */
function host(address: string): string {
  try {
    const u = new URL(address);
    return u.hostname + (u.pathname === "/" ? "" : u.pathname);
  } catch {
    return address;
  }
}

const known: Record<string, { icon: IconName; verb: LaterKey; of?: (input: unknown) => string }> = {
  exec: { icon: "terminal", verb: "do.exec", of: (i) => text(i, "command") },
  process: { icon: "terminal", verb: "do.process", of: (i) => [text(i, "action"), text(i, "sessionId")].join(" ") },
  read: { icon: "file", verb: "do.read", of: (i) => text(i, "path") },
  write: { icon: "file", verb: "do.write", of: (i) => text(i, "path") },
  edit: { icon: "file", verb: "do.edit", of: (i) => text(i, "path") },
  apply_patch: { icon: "file", verb: "do.patch" },
  web_fetch: { icon: "globe", verb: "do.fetch", of: (i) => host(text(i, "url")) },
  web_search: { icon: "search", verb: "do.search", of: (i) => text(i, "query") },
  session_status: { icon: "info", verb: "do.status" },
  sessions_list: { icon: "info", verb: "do.sessions" },
  sessions_history: { icon: "info", verb: "do.history", of: (i) => text(i, "sessionKey") },
  sessions_send: { icon: "send", verb: "do.sendSession", of: (i) => text(i, "sessionKey") },
  sessions_spawn: { icon: "spark", verb: "do.spawn", of: (i) => text(i, "task") },
  subagents: { icon: "spark", verb: "do.subagents", of: (i) => text(i, "action") },
  update_plan: { icon: "list", verb: "do.plan" },
  message: { icon: "send", verb: "do.message", of: (i) => text(i, "target") || text(i, "to") },
  image: { icon: "eye", verb: "do.image", of: (i) => text(i, "image") || text(i, "path") },
  nodes: { icon: "tool", verb: "do.nodes", of: (i) => [text(i, "action").replaceAll("_", " "), text(i, "node")].filter(Boolean).join(", ") },
  canvas: { icon: "eye", verb: "do.canvas", of: (i) => [text(i, "action").replaceAll("_", " "), host(text(i, "url"))].filter(Boolean).join(", ") },
  gateway: { icon: "tool", verb: "do.gateway", of: (i) => [text(i, "action"), text(i, "path")].join(" ") },
};

/** isCell says whether a tool ran a program of code mode, or went on with one. */
export const isCell = (tool: Tool): boolean =>
  (tool.name === "exec" && text(tool.input, "code") !== "") || (tool.name === "wait" && text(tool.input, "runId") !== "");

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
    output: output.map((o) => ({ type: o["type"] === "json" ? "json" : "text", text: o["type"] === "json" ? pretty(o["value"]) : text(o, "text") })),
    value: "value" in d && d["value"] !== null ? pretty(d["value"]) : "",
    error: [text(d, "error"), line].filter((s) => s !== "").join(" "),
    status: text(d, "status"),
    cut: d["detailsTruncated"] === true,
  };
}

/** topic is the first line of a program that says what it is for. */
function topic(code: string): string {
  const lines = code.split("\n").map((l) => l.trim()).filter((l) => l !== "");
  const note = lines[0]?.startsWith("//") ? lines[0].replace(/^\/+\s*/, "") : "";
  return note || (lines[0] ?? "");
}

export function titleOf(tool: Tool): Title {
  if (isCell(tool)) return tool.name === "wait" ? { icon: "spark", verb: t("do.wait"), object: "" } : { icon: "spark", verb: t("do.program"), object: oneLine(topic(text(tool.input, "code"))) };
  const k = known[tool.name];
  if (!k) return { icon: "tool", verb: "", object: oneLine(tool.name) };
  return { icon: k.icon, verb: t(k.verb), object: oneLine(k.of?.(tool.input) ?? "").trim() };
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
