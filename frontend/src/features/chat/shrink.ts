// Makes a picture fit for sending: no side longer than models look at, and no
// more bytes than the gateway takes.
import type { Picture } from "../../session/outbox";

const longest = 2048;
const plenty = 1_500_000;

/** shrink returns the picture as the wire takes it; it throws when the browser cannot read it. */
export async function shrink(file: File): Promise<Picture> {
  const whole = async (b: Blob, mimeType: string): Promise<Picture> => ({
    type: "image",
    mimeType,
    fileName: file.name || "picture",
    content: await base64(b),
  });
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
  // Moving pictures stay as they are.
  if ((scale === 1 && file.size <= plenty) || file.type === "image/gif") return whole(file, file.type);
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(bitmap.width * scale)), Math.max(1, Math.round(bitmap.height * scale)));
  const g = canvas.getContext("2d")!;
  g.fillStyle = "#fff";
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return whole(await canvas.convertToBlob({ type: "image/jpeg", quality: 0.86 }), "image/jpeg");
}

function base64(b: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const r = new FileReader();
    r.onload = () => resolve(String(r.result).replace(/^[^,]*,/, ""));
    r.onerror = () => reject(r.error ?? new Error("unreadable"));
    r.readAsDataURL(b);
  });
}
