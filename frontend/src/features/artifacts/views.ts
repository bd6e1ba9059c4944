export { default as Pane } from "./Pane.svelte";
