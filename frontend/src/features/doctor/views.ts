export { default as HealthPane } from "./HealthPane.svelte";
