// The button that repairs something: what the gateway says can be done, as a name
// and a deed. Which dialogs and switches there are is known to src/app.
import { createContext } from "svelte";
import { t, type Key } from "../i18n/t";

const names: Record<string, Key> = {
  "add-key": "repair.key",
  "sign-in": "repair.signIn",
  unlock: "repair.unlock",
  "choose-model": "repair.model",
  allowance: "repair.allowance",
  resume: "repair.resume",
  doctor: "repair.doctor",
};

export interface Fix {
  label: string;
  act(): void;
}

/** Fixer does what a repair is called, unless it is to try again, which only the asker can. */
export type Fixer = (repair: string) => void;

/** fixOf is the button for a repair, null when there is none. */
export function fixOf(repair: string | undefined, fixer: Fixer): Fix | null {
  const name = repair && Object.hasOwn(names, repair) ? names[repair] : undefined;
  return name ? { label: t(name), act: () => fixer(repair!) } : null;
}

export const [useFixer, provideFixer] = createContext<Fixer>();
