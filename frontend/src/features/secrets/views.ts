export { default as KeyPlace } from "./KeyPlace.svelte";
export { default as KeysDialog } from "./KeysDialog.svelte";
