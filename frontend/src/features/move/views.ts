export { default as Move } from "./Move.svelte";
