// What a tool does, in words that fit on one line.
import { t, type ToolKey } from "../../i18n/tools";
import type { Tool } from "../../session/live";
import { oneLine } from "../../text/oneline";
import type { IconName } from "../../ui/icons";

export interface Title {
  icon: IconName;
  verb: string;
  /** what it is done to, in the type of code */
  object: string;
}

export const text = (v: unknown, name: string): string => {
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

const known: Record<string, { icon: IconName; verb: ToolKey; of?: (input: unknown) => string }> = {
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
  nodes: {
    icon: "tool",
    verb: "do.nodes",
    of: (i) => [text(i, "action").replaceAll("_", " "), text(i, "node")].filter(Boolean).join(", "),
  },
  canvas: {
    icon: "eye",
    verb: "do.canvas",
    of: (i) => [text(i, "action").replaceAll("_", " "), host(text(i, "url"))].filter(Boolean).join(", "),
  },
  gateway: { icon: "tool", verb: "do.gateway", of: (i) => [text(i, "action"), text(i, "path")].join(" ") },
};

/** isCell says whether a tool ran a program of code mode, or went on with one. */
export const isCell = (tool: Tool): boolean =>
  (tool.name === "exec" && text(tool.input, "code") !== "") || (tool.name === "wait" && text(tool.input, "runId") !== "");

/** topic is the first line of a program that says what it is for. */
function topic(code: string): string {
  const lines = code
    .split("\n")
    .map((l) => l.trim())
    .filter((l) => l !== "");
  const note = lines[0]?.startsWith("//") ? lines[0].replace(/^\/+\s*/, "") : "";
  return note || (lines[0] ?? "");
}

export function titleOf(tool: Tool): Title {
  if (isCell(tool))
    return tool.name === "wait"
      ? { icon: "spark", verb: t("do.wait"), object: "" }
      : { icon: "spark", verb: t("do.program"), object: oneLine(topic(text(tool.input, "code"))) };
  const k = known[tool.name];
  if (!k) return { icon: "tool", verb: "", object: oneLine(tool.name) };
  return { icon: k.icon, verb: t(k.verb), object: oneLine(k.of?.(tool.input) ?? "").trim() };
}
