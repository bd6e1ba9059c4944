// Written by build/settings from the sections of the settings (gateway/sections). Do not edit:
// change the section of the feature or package, and run: go run ./build/settings
import type { PaneId } from "../../shell/panels.svelte";
import type { FieldSpec } from "./field";

// prettier-ignore
export const sections: Partial<Record<PaneId, FieldSpec[]>> = {
  channels: [
    { path: "messages.responsePrefix", kind: "text", fallback: "" },
  ],
  chat: [
    { path: "messages.queue.mode", kind: "choice", options: ["steer", "followup", "collect", "interrupt"], fallback: "steer" },
    { path: "messages.queue.cap", kind: "number", min: 1, max: 1000, fallback: 20 },
    { path: "messages.queue.drop", kind: "choice", options: ["summarize", "old", "new"], fallback: "summarize" },
    { path: "session.reset.mode", kind: "choice", options: ["daily", "idle"], of: "session.reset", fallback: "daily" },
    { path: "session.reset.atHour", kind: "number", min: 0, max: 23, fallback: 4 },
    { path: "session.reset.idleMinutes", kind: "number", min: 1, max: 525600, fallback: undefined },
    { path: "agents.defaults.blockStreamingDefault", kind: "switch", on: "on", off: "off", fallback: "off" },
    { path: "agents.defaults.startupContext.enabled", kind: "switch", fallback: true },
  ],
  general: [
    { path: "agents.defaults.userTimezone", kind: "text", example: "Europe/Vienna", fallback: "" },
    { path: "agents.defaults.timeFormat", kind: "choice", options: ["auto", "12", "24"], fallback: "auto" },
    { path: "agents.defaults.workspace", kind: "text", fallback: "~/Hearth" },
    { path: "hearth.desktop.notifications", kind: "choice", options: ["all", "requests", "off"], fallback: "all" },
    { path: "hearth.desktop.quietHours.start", kind: "text", example: "22:00", fallback: "" },
    { path: "hearth.desktop.quietHours.end", kind: "text", example: "07:00", fallback: "" },
    { path: "hearth.desktop.keepAwake", kind: "switch", fallback: false },
    { path: "hearth.desktop.quickKey", kind: "text", example: "ctrl+alt+space", fallback: "" },
  ],
  health: [
    { path: "logging.level", kind: "choice", options: ["debug", "info", "warn", "error"], fallback: "info" },
  ],
  memory: [
    { path: "agents.defaults.memorySearch.enabled", kind: "switch", fallback: true },
    { path: "memory.citations", kind: "choice", options: ["auto", "on", "off"], fallback: "auto" },
  ],
  models: [
    { path: "agents.defaults.model.primary", kind: "model", fallback: "" },
    { path: "agents.defaults.imageModel.primary", kind: "model", fallback: "" },
    { path: "agents.defaults.timeoutSeconds", kind: "number", min: 1, max: 86400, fallback: 600 },
  ],
  network: [
    { path: "gateway.bind", kind: "choice", options: ["loopback", "lan", "tailnet", "custom"], fallback: "loopback" },
    { path: "discovery.mdns.mode", kind: "choice", options: ["minimal", "full", "off"], fallback: "minimal" },
  ],
  people: [
    { path: "session.dmScope", kind: "choice", options: ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"], fallback: "main" },
  ],
  schedules: [
    { path: "agents.defaults.heartbeat.every", kind: "text", example: "30m", fallback: "0m" },
    { path: "agents.defaults.heartbeat.target", kind: "choice", options: ["none", "last", "owner"], fallback: "none" },
    { path: "agents.defaults.heartbeat.prompt", kind: "text", fallback: "" },
    { path: "cron.enabled", kind: "switch", fallback: true },
    { path: "cron.skipMissedJobs", kind: "switch", fallback: false },
    { path: "cron.remindTo", kind: "text", example: "NETWORK:CHAT", fallback: "last" },
  ],
  tools: [
    { path: "tools.profile", kind: "choice", options: ["minimal", "messaging", "coding", "full"], fallback: "full" },
    { path: "tools.exec.security", kind: "choice", options: ["deny", "allowlist"], fallback: "allowlist" },
    { path: "tools.exec.ask", kind: "choice", options: ["on-miss", "always", "off"], fallback: "on-miss" },
    { path: "tools.exec.sandbox.backend", kind: "choice", options: ["auto", "off"], fallback: "auto" },
    { path: "tools.exec.sandbox.network", kind: "switch", fallback: false },
    { path: "tools.web.fetch.enabled", kind: "switch", fallback: true },
    { path: "tools.web.search.enabled", kind: "switch", fallback: true },
    { path: "tools.web.search.provider", kind: "choice", options: ["duckduckgo", "brave", "tavily", "searxng"], fallback: "duckduckgo" },
    { path: "tools.media.audio.enabled", kind: "switch", fallback: true },
    { path: "tools.codeMode.enabled", kind: "switch", fallback: false },
  ],
  usage: [
    { path: "hearth.allowance.daily", kind: "number", min: 0, max: 1000000, fine: true, fallback: undefined },
    { path: "hearth.allowance.monthly", kind: "number", min: 0, max: 1000000, fine: true, fallback: undefined },
    { path: "hearth.allowance.cheapModel", kind: "model", fallback: "" },
  ],
};
