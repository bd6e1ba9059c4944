export { default as Shortcuts } from "./Shortcuts.svelte";
