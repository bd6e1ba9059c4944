// The files that go with the next message of each chat, also while another one is
// shown, and after a reload.
import type { Database } from "../storage/database";
import type { Attached } from "./outbox";

type Files = Record<string, Attached[]>;

const none: Attached[] = [];
const place = "files";

export class Chosen {
  private files = $state.raw<Files>({});
  /** chats whose files were chosen here: what is kept of them is older */
  private readonly here = new Set<string>();
  private writing: Promise<unknown> = Promise.resolve();

  /** lost is what is said of a file that a reload kept from getting to the gateway. */
  constructor(
    private readonly keep: Database,
    private readonly lost: () => string,
  ) {}

  of(key: string): Attached[] {
    return this.files[key] ?? none;
  }

  set(key: string, list: Attached[]): void {
    this.here.add(key);
    this.files = withList(this.files, key, list);
    // Another window may have kept something meanwhile. A full disk must not stop the message.
    this.writing = this.writing
      .then(async () => this.keep.put("state", place, withList(await this.kept(), key, list)))
      .catch(() => undefined);
  }

  /** load brings back what was chosen before a reload. */
  async load(): Promise<void> {
    const kept = await this.kept().catch(() => ({}) as Files);
    for (const [key, list] of Object.entries(kept)) {
      if (!this.here.has(key)) this.files = withList(this.files, key, list.map((f) => this.left(f)));
    }
  }

  forget(): void {
    this.files = {};
    this.writing = this.writing.then(() => this.keep.remove("state", place)).catch(() => undefined);
  }

  private async kept(): Promise<Files> {
    return (await this.keep.get<Files>("state", place)) ?? {};
  }

  /** left is a file as a reload left it: what was on its way did not get there, and no message goes without it in silence. */
  private left(f: Attached): Attached {
    return f.type === "image" || f.file || f.failed ? f : { ...f, failed: this.lost() };
  }
}

function withList(files: Files, key: string, list: Attached[]): Files {
  const { [key]: _, ...others } = files;
  return list.length > 0 ? { ...others, [key]: list } : others;
}
