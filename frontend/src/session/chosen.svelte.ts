// The files that go with the next message of each chat, also while another one is shown.
import type { Attached } from "./outbox";

const none: Attached[] = [];

export class Chosen {
  private files = $state.raw<Record<string, Attached[]>>({});

  of(key: string): Attached[] {
    return this.files[key] ?? none;
  }

  set(key: string, list: Attached[]): void {
    const { [key]: _, ...others } = this.files;
    this.files = list.length > 0 ? { ...others, [key]: list } : others;
  }

  forget(): void {
    this.files = {};
  }
}
