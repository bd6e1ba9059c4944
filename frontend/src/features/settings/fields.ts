// The settings that need no more than a form, by pane. Each has a name and a
// sentence that says what happens (i18n/settings.json: "f.<path>" and "f.<path>.what").
// Those of sections.ts are written from what the gateway says of its settings.
import type { PaneId } from "../../shell/panels.svelte";
import type { FieldSpec } from "./field";
import { sections } from "./sections";

const others: Record<PaneId, FieldSpec[]> = {
  general: [
    { path: "agents.defaults.userTimezone", kind: "text", fallback: "", example: "Europe/Vienna" },
    { path: "agents.defaults.timeFormat", kind: "choice", options: ["auto", "12", "24"], fallback: "auto" },
    { path: "agents.defaults.workspace", kind: "text", fallback: "~/Hearth" },
  ],
  models: [
    { path: "agents.defaults.model.primary", kind: "model", fallback: "" },
    { path: "agents.defaults.imageModel.primary", kind: "model", fallback: "" },
    { path: "agents.defaults.timeoutSeconds", kind: "number", min: 1, max: 86_400, fallback: 600 },
  ],
  usage: [],
  chat: [
    { path: "messages.queue.mode", kind: "choice", options: ["steer", "followup", "collect", "interrupt"], fallback: "steer" },
    { path: "messages.queue.cap", kind: "number", min: 1, max: 1000, fallback: 20 },
    { path: "messages.queue.drop", kind: "choice", options: ["summarize", "old", "new"], fallback: "summarize" },
    { path: "session.reset.mode", kind: "choice", options: ["daily", "idle"], fallback: "daily", of: "session.reset" },
    { path: "session.reset.atHour", kind: "number", min: 0, max: 23, fallback: 4 },
    { path: "session.reset.idleMinutes", kind: "number", min: 1, max: 525_600, fallback: undefined },
    { path: "agents.defaults.blockStreamingDefault", kind: "switch", on: "on", off: "off", fallback: "off" },
  ],
  people: [
    {
      path: "session.dmScope",
      kind: "choice",
      options: ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"],
      fallback: "main",
    },
  ],
  channels: [
    { path: "channels.telegram.enabled", kind: "switch", fallback: true },
    { path: "channels.telegram.dmPolicy", kind: "choice", options: ["pairing", "allowlist", "open", "disabled"], fallback: "pairing" },
    { path: "channels.telegram.groupPolicy", kind: "choice", options: ["allowlist", "open", "disabled"], fallback: "allowlist" },
    { path: "channels.telegram.streaming.mode", kind: "choice", options: ["off", "partial", "block", "progress"], fallback: "partial" },
    { path: "messages.responsePrefix", kind: "text", fallback: "" },
  ],
  tools: [
    { path: "tools.profile", kind: "choice", options: ["minimal", "messaging", "coding", "full"], fallback: "full" },
    { path: "tools.exec.security", kind: "choice", options: ["deny", "allowlist"], fallback: "allowlist" },
    { path: "tools.exec.ask", kind: "choice", options: ["on-miss", "always", "off"], fallback: "on-miss" },
    { path: "tools.exec.sandbox.backend", kind: "choice", options: ["auto", "off"], fallback: "auto" },
    { path: "tools.exec.sandbox.network", kind: "switch", fallback: false },
  ],
  skills: [],
  memory: [],
  schedules: [],
  network: [
    { path: "gateway.bind", kind: "choice", options: ["loopback", "lan", "tailnet", "custom"], fallback: "loopback" },
    { path: "discovery.mdns.mode", kind: "choice", options: ["minimal", "full", "off"], fallback: "minimal" },
  ],
  health: [{ path: "logging.level", kind: "choice", options: ["debug", "info", "warn", "error"], fallback: "info" }],
};

export const fields = Object.fromEntries(
  Object.entries(others).map(([pane, own]) => [pane, [...own, ...(sections[pane as PaneId] ?? [])]]),
) as Record<PaneId, FieldSpec[]>;
