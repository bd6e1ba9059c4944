export { default as ChatInView } from "./ChatInView.svelte";
export { default as Present } from "./Present.svelte";
