// Files that go with the next message. Large pictures are made smaller here, so that
// they fit and cost less; every other file is given to the gateway at once, which
// reads it and says what is in it.
import type { Caller } from "../../net/client.svelte";
import { MaxAttachmentBytes, MaxAttachments } from "../../protocol";
import type { Attached, Upload } from "../../session/outbox";
import { shrink } from "./shrink";

/** pictureKinds are what models can see. */
export const pictureKinds = "image/png,image/jpeg,image/gif,image/webp";

/** part of a file is sent at once, in bytes. */
const part = 3 << 20;
/** patience is how long the gateway may read a file, in milliseconds. */
const patience = 90_000;

/** Refusal says why a file was not taken. */
export type Refusal = { why: "many"; n: number; names: string[] } | { why: "large" | "empty"; name: string; n: number };

export interface Attaching {
  client: Caller;
  have(): Attached[];
  set(list: Attached[]): void;
  refused(r: Refusal): void;
}

/** attach adds files to those that are there, and tells of each that it cannot take. */
export async function attach(files: Iterable<File>, o: Attaching): Promise<void> {
  const going: Promise<void>[] = [];
  const list = [...files];
  for (const [i, f] of list.entries()) {
    if (o.have().length >= MaxAttachments) {
      o.refused({ why: "many", n: MaxAttachments, names: list.slice(i).map((left) => left.name) });
      break;
    }
    const may = f.type !== "" && pictureKinds.includes(f.type);
    const picture = may ? await shrink(f).catch(() => null) : null;
    if (picture) o.set([...o.have(), picture]);
    else if (f.size === 0) o.refused({ why: "empty", name: f.name, n: 0 });
    else if (f.size > MaxAttachmentBytes) o.refused({ why: "large", name: f.name, n: MaxAttachmentBytes >> 20 });
    else going.push(upload(f, o));
  }
  await Promise.all(going);
}

/** reading reports files that are not there yet. */
export const reading = (list: readonly Attached[]): boolean => list.some((f) => f.type === "file" && !f.file && !f.failed);

/** lacking reports files that did not get there: no message goes without them in silence. */
export const lacking = (list: readonly Attached[]): boolean => list.some((f) => f.type === "file" && !!f.failed);

/** leaveOut takes one out, and tells the gateway. */
export function leaveOut(f: Attached, o: Pick<Attaching, "client" | "have" | "set">): void {
  o.set(o.have().filter((x) => x !== f));
  if (f.type === "file" && f.upload) void o.client.call("hearth.upload.drop", { upload: f.upload }).catch(() => undefined);
}

/** broken are the files that did not reach the gateway, so that they can be given to it again. */
const broken = new WeakMap<Attached, File>();

/** again gives the gateway a file that did not reach it, in the place where it stood; false: a reload took it, it is to be chosen anew. */
export function again(f: Attached, o: Attaching): boolean {
  const file = broken.get(f);
  if (!o.have().includes(f)) return true;
  if (!file) return false;
  if (f.type === "file" && f.upload) void o.client.call("hearth.upload.drop", { upload: f.upload }).catch(() => undefined);
  void upload(file, o, f);
  return true;
}

async function upload(file: File, o: Attaching, was?: Attached): Promise<void> {
  let mine: Upload = { type: "file", mimeType: file.type, fileName: file.name, size: file.size, upload: "", progress: 0 };
  o.set(was ? o.have().map((x) => (x === was ? mine : x)) : [...o.have(), mine]);
  const change = (by: Partial<Upload>): boolean => {
    const next = { ...mine, ...by };
    if (!o.have().includes(mine)) return false; // it was taken out meanwhile
    o.set(o.have().map((x) => (x === mine ? next : x)));
    mine = next;
    return true;
  };
  try {
    for (let at = 0; at < file.size; ) {
      const content = await base64(file.slice(at, at + part));
      const first = { fileName: file.name, mimeType: file.type, size: file.size };
      const to = { ...(mine.upload ? { upload: mine.upload } : first), offset: at, content };
      const got = await o.client.call("hearth.upload.put", to, patience);
      at = got.received;
      if (!change({ upload: got.upload, progress: at / file.size, ...(got.file ? { file: got.file } : {}) })) {
        await o.client.call("hearth.upload.drop", { upload: got.upload });
        return;
      }
    }
  } catch (e) {
    if (change({ failed: e instanceof Error ? e.message : String(e) })) broken.set(mine, file);
  }
}

function base64(b: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const r = new FileReader();
    r.onload = () => resolve(String(r.result).replace(/^[^,]*,/, ""));
    r.onerror = () => reject(r.error ?? new Error("unreadable"));
    r.readAsDataURL(b);
  });
}
