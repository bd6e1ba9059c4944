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

  /** load may be called again when it failed: the gateway was away. */
  load(): Promise<void> {
    this.coming ??= this.fetch().catch((e: unknown) => {
      this.coming = null;
      throw e;
    });
    return this.coming;
  }

  private async fetch(): Promise<void> {
    const [views] = await Promise.all([this.bring(), ...this.parts.map(load)]);
    this.now = views;
  }
}

/** lazy names a module of components and the parts of words that they say. */
export const lazy = <M>(bring: () => Promise<M>, ...parts: string[]): Views<M> => new Views(bring, parts);
