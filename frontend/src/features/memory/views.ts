export { default as Memory } from "./Memory.svelte";
export { default as MemoryPane } from "./MemoryPane.svelte";
