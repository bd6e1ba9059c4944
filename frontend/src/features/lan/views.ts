export { default as LanSwitch } from "./LanSwitch.svelte";
export { default as NetworkPane } from "./NetworkPane.svelte";
