// Pictures from elsewhere, behind a button that names the site. They are loaded in a
// frame without an origin, so that the policy of the page need not let them in.
import { hear, sandbox } from "./frames";
import { t } from "./words";
import "./remote.css";

/** remote puts the button there. */
export function remote(e: HTMLElement): void {
  if (e.dataset["done"] !== undefined) return;
  e.dataset["done"] = "";
  const url = new URL(e.dataset["src"] ?? "");
  if (near(url.hostname)) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = t("remote.show", { host: url.host });
  button.addEventListener("click", () => show(e, url));
  e.append(button);
}

/** near hosts are this machine and its network: a picture is no reason to call there. */
export function near(host: string): boolean {
  const own = /^(?:localhost|.*\.(?:localhost|local|internal|home\.arpa|lan)|[^.]*)$/i;
  return own.test(host) || /^[\d.]+$/.test(host) || host.startsWith("[");
}

function show(e: HTMLElement, url: URL): void {
  const frame = sandbox("picture", e.dataset["alt"] || url.host);
  frame.className = "elsewhere";
  const gone = (): void => {
    deaf();
    clearTimeout(timer);
    const p = document.createElement("span");
    p.className = "host";
    p.textContent = t("remote.failed", { host: url.host });
    e.replaceChildren(p);
  };
  const timer = setTimeout(gone, 20_000);
  const deaf = hear(frame, (data) => {
    if (data["ready"] === true) return frame.contentWindow!.postMessage({ address: url.href, alt: e.dataset["alt"] }, "*");
    if (data["failed"] === true) return gone();
    const [w, h] = [Number(data["width"]), Number(data["height"])];
    if (!(w > 0 && h > 0 && w < 20_000 && h < 20_000)) return gone();
    clearTimeout(timer);
    frame.style.width = `${w}px`;
    frame.style.aspectRatio = `${w} / ${h}`;
    frame.classList.add("seen");
  });
  e.replaceChildren(frame);
}
