export { default as PauseDialog } from "./PauseDialog.svelte";
export { default as PausedBanner } from "./PausedBanner.svelte";
