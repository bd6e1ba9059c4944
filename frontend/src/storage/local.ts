// Small things in localStorage, written at once so that they survive a killed
// tab. Where storage is refused they last as long as the page.
const memory = new Map<string, string>();

function read(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

function write(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem(key);
    else localStorage.setItem(key, value);
    memory.delete(key);
  } catch {
    memory.set(key, value);
  }
}

export const draftOf = (session: string): string => read("hearth.draft." + session) ?? "";
export const keepDraft = (session: string, text: string): void => write("hearth.draft." + session, text);

/** pickedFor is the model that was picked for a chat in which nothing was said yet, "" for none. */
export const pickedFor = (session: string): string => read("hearth.picked." + session) ?? "";
export const keepPicked = (session: string, model: string): void => write("hearth.picked." + session, model);

const deleting = "hearth.deleting.";

/** keepDeletion keeps that a chat is to be deleted, for when the page goes before it is; without anything it is forgotten. */
export const keepDeletion = (session: string, what?: unknown): void => write(deleting + session, what ? JSON.stringify(what) : "");

/** keptDeletions are what was kept of each, by the chat; what cannot be read is null. */
export function keptDeletions(): [string, unknown][] {
  const read = (k: string): unknown => {
    try {
      return JSON.parse(localStorage.getItem(k)!);
    } catch {
      return null;
    }
  };
  try {
    const keys = Object.keys(localStorage).filter((k) => k.startsWith(deleting));
    return keys.map((k) => [k.slice(deleting.length), read(k)]);
  } catch {
    return [];
  }
}

const sending = "hearth.sending.";

/** jot keeps a message at once, until it stands where unsent ones are kept; without one it is kept there. */
export const jot = (id: string, message?: unknown): void => write(sending + id, message ? JSON.stringify(message) : "");

/** jotted are the messages that a reload or a killed tab kept from getting there. */
export function jotted<T>(): T[] {
  try {
    const keys = Object.keys(localStorage).filter((k) => k.startsWith(sending));
    return keys.map((k) => JSON.parse(localStorage.getItem(k)!) as T);
  } catch {
    return [];
  }
}

export type Theme = "system" | "light" | "dark";

export const prefs = {
  get theme(): Theme {
    const v = read("hearth.theme");
    return v === "light" || v === "dark" ? v : "system";
  },
  set theme(v: Theme) {
    write("hearth.theme", v === "system" ? "" : v);
  },
  /** the language this person chose, "" for what the browser asks for */
  get language(): string {
    return read("hearth.language") ?? "";
  },
  set language(v: string) {
    write("hearth.language", v);
  },
  /** the model whose test was read, "" for none: its card was closed */
  get tested(): string {
    return read("hearth.tested") ?? "";
  },
  set tested(model: string) {
    write("hearth.tested", model);
  },
  /** what was chosen in the palette, the last one first */
  get used(): string[] {
    try {
      const v: unknown = JSON.parse(read("hearth.used") ?? "[]");
      return Array.isArray(v) ? v.filter((x) => typeof x === "string").slice(0, 20) : [];
    } catch {
      return [];
    }
  },
  set used(v: readonly string[]) {
    write("hearth.used", JSON.stringify(v));
  },
  get lastSession(): string {
    return read("hearth.last") ?? "";
  },
  set lastSession(key: string) {
    write("hearth.last", key);
  },
  get sidebar(): boolean {
    return read("hearth.sidebar") !== "closed";
  },
  set sidebar(open: boolean) {
    write("hearth.sidebar", open ? "" : "closed");
  },
};
