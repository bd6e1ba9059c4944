export { default as UndoDialog } from "./UndoDialog.svelte";
