export { default as Servers } from "./Servers.svelte";
