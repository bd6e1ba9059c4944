export { default as ModelsPane } from "./ModelsPane.svelte";
