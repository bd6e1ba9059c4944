// Pictures that go with the next message. Large ones are made smaller here, so
// that they fit and cost less.
import { MaxAttachments } from "../../protocol";
import type { Picture } from "../../session/outbox";
import { shrink } from "./shrink";

/** pictureKinds are what models can see. */
export const pictureKinds = "image/png,image/jpeg,image/gif,image/webp";

/** Refusal says why a file was not taken. */
export type Refusal = { why: "many"; n: number } | { why: "kind"; name: string };

/** attach adds files to those that are there, and tells of each that it cannot take. */
export async function attach(
  files: Iterable<File>,
  have: () => Picture[],
  set: (list: Picture[]) => void,
  refused: (r: Refusal) => void,
): Promise<void> {
  for (const f of files) {
    if (have().length >= MaxAttachments) return refused({ why: "many", n: MaxAttachments });
    const may = f.type !== "" && pictureKinds.includes(f.type);
    const picture = may ? await shrink(f).catch(() => null) : null;
    if (picture) set([...have(), picture]);
    else refused({ why: "kind", name: f.name });
  }
}
