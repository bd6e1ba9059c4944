export { default as ModelsPane } from "./ModelsPane.svelte";
export { default as AddServer } from "./AddServer.svelte";
