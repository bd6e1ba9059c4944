// What stands in hearth.json, read and changed one value at a time. A change is
// checked by the gateway before it is written, and refused when somebody else
// changed the file meanwhile.
import type { Caller } from "../net/client.svelte";
import { CallError } from "../net/socket";

/** nested is a value below some keys, as a patch of the settings says it. */
export const nested = (keys: string[], value: unknown): unknown => keys.reduceRight<unknown>((v, k) => ({ [k]: v }), value);

export class Config {
  loaded = $state(false);
  problem = $state("");
  private doc = $state.raw<unknown>({});
  private hash = "";
  path = $state("");
  raw = $state("");

  constructor(private readonly client: Caller) {}

  async load(): Promise<void> {
    try {
      const s = await this.client.call("config.get", {});
      this.doc = s.parsed ?? {};
      this.hash = s.hash;
      this.path = s.path;
      this.raw = s.raw ?? "";
      this.problem = s.issues.map((i) => (i.line ? `line ${i.line}: ` : "") + i.message).join("\n");
      this.loaded = true;
    } catch (e) {
      this.problem = e instanceof Error ? e.message : String(e);
    }
  }

  /** get is what stands at a path like "messages.queue.mode"; undefined: nothing. */
  get(path: string): unknown {
    return this.at(path.split("."));
  }

  /** at is what stands below these keys, which may have points in them. */
  at(keys: string[]): unknown {
    return keys.reduce<unknown>((v, k) => (v !== null && typeof v === "object" ? (v as Record<string, unknown>)[k] : undefined), this.doc);
  }

  /** set writes one value, or takes it out (null), and says why when that cannot be. */
  async set(path: string, value: unknown): Promise<{ error: string; notes: string[] }> {
    return this.write("config.patch", JSON.stringify(nested(path.split("."), value)));
  }

  /** patch writes several values at once, also below names with a point in them. What was
   *  read before does not matter to it: what it does not name stays. */
  async patch(values: unknown): Promise<{ error: string; notes: string[] }> {
    await this.load();
    return this.write("config.patch", JSON.stringify(values));
  }

  /** replace writes the whole file. */
  replace(raw: string): Promise<{ error: string; notes: string[] }> {
    return this.write("config.set", raw);
  }

  private async write(method: "config.patch" | "config.set", raw: string): Promise<{ error: string; notes: string[] }> {
    try {
      const r = await this.client.call(method, { raw, baseHash: this.hash });
      await this.load();
      return { error: "", notes: r.hearthNotes ?? [] };
    } catch (e) {
      if (!(e instanceof CallError) || e.code !== "OFFLINE") await this.load();
      return { error: e instanceof Error ? e.message : String(e), notes: [] };
    }
  }
}
