// Written by build/settings from the sections of the settings (gateway/sections). Do not edit:
// change the section of the feature or package, and run: go run ./build/settings
import type { PaneId } from "../../shell/panels.svelte";
import type { FieldSpec } from "./field";

// prettier-ignore
export const sections: Partial<Record<PaneId, FieldSpec[]>> = {
  chat: [
    { path: "agents.defaults.startupContext.enabled", kind: "switch", fallback: true },
  ],
  general: [
    { path: "hearth.desktop.notifications", kind: "choice", options: ["all", "requests", "off"], fallback: "all" },
    { path: "hearth.desktop.quietHours.start", kind: "text", example: "22:00", fallback: "" },
    { path: "hearth.desktop.quietHours.end", kind: "text", example: "07:00", fallback: "" },
    { path: "hearth.desktop.keepAwake", kind: "switch", fallback: false },
    { path: "hearth.desktop.quickKey", kind: "text", example: "ctrl+alt+space", fallback: "" },
  ],
  memory: [
    { path: "agents.defaults.memorySearch.enabled", kind: "switch", fallback: true },
    { path: "memory.citations", kind: "choice", options: ["auto", "on", "off"], fallback: "auto" },
  ],
  schedules: [
    { path: "agents.defaults.heartbeat.every", kind: "text", example: "30m", fallback: "0m" },
    { path: "agents.defaults.heartbeat.target", kind: "choice", options: ["none", "last"], fallback: "none" },
    { path: "agents.defaults.heartbeat.prompt", kind: "text", fallback: "" },
    { path: "cron.enabled", kind: "switch", fallback: true },
    { path: "cron.skipMissedJobs", kind: "switch", fallback: false },
  ],
  tools: [
    { path: "tools.web.fetch.enabled", kind: "switch", fallback: true },
    { path: "tools.web.search.enabled", kind: "switch", fallback: true },
    { path: "tools.web.search.provider", kind: "choice", options: ["duckduckgo", "brave", "tavily", "searxng"], fallback: "duckduckgo" },
    { path: "tools.codeMode.enabled", kind: "switch", fallback: false },
  ],
  usage: [
    { path: "hearth.allowance.daily", kind: "number", min: 0, max: 1000000, fine: true, fallback: undefined },
    { path: "hearth.allowance.monthly", kind: "number", min: 0, max: 1000000, fine: true, fallback: undefined },
    { path: "hearth.allowance.cheapModel", kind: "model", fallback: "" },
  ],
};
