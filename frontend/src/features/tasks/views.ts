export { default as TasksPane } from "./TasksPane.svelte";
