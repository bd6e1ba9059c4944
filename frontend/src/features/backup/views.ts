export { default as Backup } from "./Backup.svelte";
