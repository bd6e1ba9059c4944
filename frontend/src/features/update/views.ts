export { default as Updates } from "./Updates.svelte";
