export { default as Cards } from "./Cards.svelte";
export { default as SchedulesPane } from "./SchedulesPane.svelte";
