export { default as SearchKey } from "./SearchKey.svelte";
export { default as SafetyPanel } from "./SafetyPanel.svelte";
export { default as ToolsPane } from "./ToolsPane.svelte";
