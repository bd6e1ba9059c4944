// Light, dark, or whatever the computer says.
import { prefs, type Theme } from "../storage/local";

const dark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

export function applyTheme(choice: Theme = prefs.theme): void {
  const now = choice === "system" ? (dark().matches ? "dark" : "light") : choice;
  document.documentElement.dataset.theme = now;
}

export function chooseTheme(choice: Theme): void {
  prefs.theme = choice;
  applyTheme(choice);
}

export function followSystem(): void {
  dark().addEventListener("change", () => applyTheme());
}
