// How views reach the page's heart.
import { getContext, setContext } from "svelte";
import type { Hearth } from "./hearth.svelte";

const key = Symbol("hearth");

export const provide = (h: Hearth): Hearth => setContext(key, h);
export const hearth = (): Hearth => getContext<Hearth>(key);
