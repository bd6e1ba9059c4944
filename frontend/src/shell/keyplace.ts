// Where keys are kept is shown, and chosen, wherever somebody is about to give one.
// The view is of a feature; whoever asks for a key knows only this.
import { createContext, type Component } from "svelte";
import type { Views } from "../ui/lazy.svelte";

export interface KeyPlaceProps {
  /** called when keys can be kept now and could not before */
  onready?: () => void;
  /** nothing is said when all is well */
  quiet?: boolean;
}

export const [useKeyPlace, provideKeyPlace] = createContext<Views<{ KeyPlace: Component<KeyPlaceProps> }>>();
