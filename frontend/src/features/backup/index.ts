import { lazy } from "../../ui/lazy.svelte";

export const views = lazy(() => import("./views"), "backup");
