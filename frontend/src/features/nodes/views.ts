export { default as Nodes } from "./Nodes.svelte";
