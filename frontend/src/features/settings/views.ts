export { default as GeneralPane } from "./GeneralPane.svelte";
export { default as Settings } from "./Settings.svelte";
