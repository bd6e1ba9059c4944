// What this browser keeps between visits: one IndexedDB database with three
// tables. Where IndexedDB is not available (some private windows) the same
// calls work on memory, for this tab only.
export type Table = "keys" | "outbox" | "state";

export interface Database {
  /** false when nothing outlives this tab */
  readonly durable: boolean;
  get<T>(table: Table, key: string): Promise<T | undefined>;
  put(table: Table, key: string, value: unknown): Promise<void>;
  remove(table: Table, key: string): Promise<void>;
  all<T>(table: Table): Promise<T[]>;
}

const tables: Table[] = ["keys", "outbox", "state"];

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

class DiskDatabase implements Database {
  readonly durable = true;
  constructor(private readonly db: IDBDatabase) {}

  get<T>(table: Table, key: string): Promise<T | undefined> {
    return done(this.db.transaction(table).objectStore(table).get(key)) as Promise<T | undefined>;
  }
  all<T>(table: Table): Promise<T[]> {
    return done(this.db.transaction(table).objectStore(table).getAll()) as Promise<T[]>;
  }
  put(table: Table, key: string, value: unknown): Promise<void> {
    const tx = this.db.transaction(table, "readwrite", { durability: "strict" });
    tx.objectStore(table).put(value, key);
    return settled(tx);
  }
  remove(table: Table, key: string): Promise<void> {
    const tx = this.db.transaction(table, "readwrite");
    tx.objectStore(table).delete(key);
    return settled(tx);
  }
}

export class MemoryDatabase implements Database {
  readonly durable = false;
  private readonly maps = new Map<Table, Map<string, unknown>>(tables.map((d) => [d, new Map<string, unknown>()]));

  async get<T>(table: Table, key: string): Promise<T | undefined> {
    return this.maps.get(table)!.get(key) as T | undefined;
  }
  async all<T>(table: Table): Promise<T[]> {
    return [...this.maps.get(table)!.values()] as T[];
  }
  async put(table: Table, key: string, value: unknown): Promise<void> {
    this.maps.get(table)!.set(key, value);
  }
  async remove(table: Table, key: string): Promise<void> {
    this.maps.get(table)!.delete(key);
  }
}

export async function openDatabase(): Promise<Database> {
  try {
    const r = indexedDB.open("hearth", 1);
    r.onupgradeneeded = () => tables.forEach((d) => r.result.createObjectStore(d));
    const db = await done(r);
    // Another tab with a newer page may want to upgrade: do not stand in its way.
    db.onversionchange = () => db.close();
    return new DiskDatabase(db);
  } catch {
    return new MemoryDatabase();
  }
}
