export { default as Why } from "./Why.svelte";
