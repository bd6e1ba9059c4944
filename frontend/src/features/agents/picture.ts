// The picture of an assistant: small, square, and part of the settings.
const side = 96;
/** most is how long the address of a picture may be; the gateway takes no more. */
const most = 30_000;

/** small makes it of a file; it throws when the browser cannot read that as a picture. */
export async function small(file: Blob): Promise<string> {
  const bitmap = await createImageBitmap(file);
  const part = Math.min(bitmap.width, bitmap.height);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  canvas
    .getContext("2d")!
    .drawImage(bitmap, (bitmap.width - part) / 2, (bitmap.height - part) / 2, part, part, 0, 0, side, side);
  for (const [type, quality] of [["image/png", 1], ["image/jpeg", 0.85], ["image/jpeg", 0.5]] as const) {
    const url = canvas.toDataURL(type, quality);
    if (url.length <= most) return url;
  }
  throw new Error("too large");
}
