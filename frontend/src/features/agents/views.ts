export { default as AssistantsPane } from "./AssistantsPane.svelte";
export { default as Switcher } from "./Switcher.svelte";
export { default as Bindings } from "./Bindings.svelte";
