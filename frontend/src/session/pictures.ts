// Pictures of conversations, as addresses for the page.
import { createContext } from "svelte";
import type { Caller } from "../net/client.svelte";

export class Pictures {
  private readonly urls = new Map<string, Promise<string>>();

  constructor(
    private readonly client: Caller,
    /** how many are remembered */
    private readonly most: number,
  ) {}

  /** get is an address for a picture of a conversation. */
  get(id: string): Promise<string> {
    let url = this.urls.get(id);
    if (!url) {
      url = this.client.call("hearth.media.get", { id }).then((m) => `data:${m.mimeType};base64,${m.content}`);
      this.urls.set(id, url);
      url.catch(() => this.urls.delete(id));
      if (this.urls.size > this.most) this.urls.delete(this.urls.keys().next().value!);
    }
    return url;
  }
}

export const [usePictures, providePictures] = createContext<Pictures>();
