// The views of a subject that come, with their words, when they are first needed.
import { load } from "../i18n/words.svelte";

export class Views<M> {
  /** null until they are there */
  now = $state.raw<M | null>(null);
  private coming: Promise<void> | null = null;

  constructor(
    private readonly bring: () => Promise<M>,
    private readonly parts: readonly string[],
  ) {}

  private failed = false;

  /** load may be called again when it failed: the gateway was away. */
  load(): Promise<void> {
    this.coming ??= this.fetch().catch((e: unknown) => {
      this.coming = null;
      this.failed = true;
      throw e;
    });
    return this.coming;
  }

  private async fetch(): Promise<void> {
    const [views] = await Promise.all([this.bring(), ...this.parts.map(load)]);
    if (this.failed) mend(document);
    this.now = views;
  }
}

/** mend asks again for style sheets that did not come: a module that is imported
 * again brings its own only the first time. */
export function mend(page: Document): void {
  for (const link of page.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")) {
    try {
      void link.sheet?.cssRules;
    } catch {
      link.replaceWith(link.cloneNode());
    }
  }
}

/** lazy names a module of components and the parts of words that they say. */
export const lazy = <M>(bring: () => Promise<M>, ...parts: string[]): Views<M> => new Views(bring, parts);
