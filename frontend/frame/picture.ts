// Shows one picture from elsewhere, which a person asked for. The frame has no
// origin: the site gets no cookie of Hearth, and no address of the page.
const img = document.createElement("img");
img.referrerPolicy = "no-referrer";
img.style.cssText = "display:block;max-width:100%;margin:0";
document.body.style.margin = "0";
document.documentElement.style.overflow = "hidden";
img.onload = () => parent.postMessage({ width: img.naturalWidth, height: img.naturalHeight }, "*");
img.onerror = () => parent.postMessage({ failed: true }, "*");
addEventListener("message", (e: MessageEvent<{ address?: unknown; alt?: unknown }>) => {
  const { address, alt } = e.data;
  if (e.source !== parent || typeof address !== "string" || !address.startsWith("https://")) return;
  img.alt = String(alt ?? "");
  document.body.replaceChildren(img);
  img.src = address;
});
parent.postMessage({ ready: true }, "*");
