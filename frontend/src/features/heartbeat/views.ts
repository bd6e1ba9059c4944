export { default as SchedulesPane } from "./SchedulesPane.svelte";
