// What this browser keeps between visits: one IndexedDB database with three
// drawers. Where IndexedDB is not available (some private windows) the same
// calls work on memory, for this tab only.
export type Drawer = "keys" | "outbox" | "state";

export interface Cabinet {
  /** false when nothing outlives this tab */
  readonly durable: boolean;
  get<T>(drawer: Drawer, key: string): Promise<T | undefined>;
  put(drawer: Drawer, key: string, value: unknown): Promise<void>;
  remove(drawer: Drawer, key: string): Promise<void>;
  all<T>(drawer: Drawer): Promise<T[]>;
}

const drawers: Drawer[] = ["keys", "outbox", "state"];

const done = <T>(r: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    r.onsuccess = () => resolve(r.result);
    r.onerror = () => reject(r.error ?? new Error("IndexedDB request failed"));
  });

/** settled waits for the transaction: only then is a write on disk. */
const settled = (tx: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    tx.oncomplete = () => resolve();
    tx.onabort = tx.onerror = () => reject(tx.error ?? new Error("IndexedDB write failed"));
  });

class DiskCabinet implements Cabinet {
  readonly durable = true;
  constructor(private readonly db: IDBDatabase) {}

  get<T>(drawer: Drawer, key: string): Promise<T | undefined> {
    return done(this.db.transaction(drawer).objectStore(drawer).get(key)) as Promise<T | undefined>;
  }
  all<T>(drawer: Drawer): Promise<T[]> {
    return done(this.db.transaction(drawer).objectStore(drawer).getAll()) as Promise<T[]>;
  }
  put(drawer: Drawer, key: string, value: unknown): Promise<void> {
    const tx = this.db.transaction(drawer, "readwrite", { durability: "strict" });
    tx.objectStore(drawer).put(value, key);
    return settled(tx);
  }
  remove(drawer: Drawer, key: string): Promise<void> {
    const tx = this.db.transaction(drawer, "readwrite");
    tx.objectStore(drawer).delete(key);
    return settled(tx);
  }
}

export class MemoryCabinet implements Cabinet {
  readonly durable = false;
  private readonly maps = new Map<Drawer, Map<string, unknown>>(drawers.map((d) => [d, new Map<string, unknown>()]));

  async get<T>(drawer: Drawer, key: string): Promise<T | undefined> {
    return this.maps.get(drawer)!.get(key) as T | undefined;
  }
  async all<T>(drawer: Drawer): Promise<T[]> {
    return [...this.maps.get(drawer)!.values()] as T[];
  }
  async put(drawer: Drawer, key: string, value: unknown): Promise<void> {
    this.maps.get(drawer)!.set(key, value);
  }
  async remove(drawer: Drawer, key: string): Promise<void> {
    this.maps.get(drawer)!.delete(key);
  }
}

export async function openCabinet(): Promise<Cabinet> {
  try {
    const r = indexedDB.open("hearth", 1);
    r.onupgradeneeded = () => drawers.forEach((d) => r.result.createObjectStore(d));
    const db = await done(r);
    // Another tab with a newer page may want to upgrade: do not stand in its way.
    db.onversionchange = () => db.close();
    return new DiskCabinet(db);
  } catch {
    return new MemoryCabinet();
  }
}
