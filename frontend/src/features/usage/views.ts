export { default as UsagePane } from "./UsagePane.svelte";
