// Becomes the page that a model wrote. The policy that came with this frame stays
// with it: no origin, and no network unless a person allowed it for this artifact.
//
// No policy of today's browsers holds calls between browsers (WebRTC) back, so they
// are taken out of this frame; and a frame inside of it, which would have them anew,
// is not made: its text is taken from it, and it is taken out before it can run.
export {};

interface Types {
  createPolicy(name: string, rules: Record<string, (s: string, type: string, sink: string) => string>): unknown;
}

const scope = window as unknown as Record<string, unknown>;
for (const name of Object.getOwnPropertyNames(window)) {
  if (/^(?:webkit|moz)?RTC|^WebTransport|^XSLTProcessor$/.test(name)) delete scope[name];
}

// A press inside gives its page the clipboard by execCommand, whatever the policy says of it.
const { execCommand } = Document.prototype;
Document.prototype.execCommand = function (command, ...rest) {
  const name = String(command);
  return /^(?:copy|cut|paste)$/i.test(name) ? false : execCommand.call(this, name, ...rest);
};

const tame = (html: string): string => html.replace(/srcdoc/gi, "srcd0c");
const same = (s: string): string => s;
(scope["trustedTypes"] as Types | undefined)?.createPolicy("default", {
  createHTML: (html, _, sink) => (/srcdoc/i.test(sink) ? "" : tame(html)),
  createScript: same,
  createScriptURL: same,
});

const frames = "iframe, frame, object, embed";
const without = (root: ParentNode): void => root.querySelectorAll(frames).forEach((e) => e.remove());
const watch = new MutationObserver((all) => {
  for (const { addedNodes } of all) {
    for (const node of addedNodes) {
      if (!(node instanceof Element)) continue;
      if (node.matches(frames)) node.remove();
      else without(node);
    }
  }
});
const everywhere = { childList: true, subtree: true };
watch.observe(document, everywhere);
const { attachShadow } = Element.prototype;
Element.prototype.attachShadow = function (init) {
  const root = attachShadow.call(this, init);
  watch.observe(root, everywhere);
  return root;
};

let begun = false;
addEventListener("message", (e: MessageEvent<{ html?: unknown }>) => {
  if (begun || e.source !== parent || typeof e.data.html !== "string") return;
  begun = true;
  document.open();
  document.write(tame(e.data.html));
  document.close();
});
parent.postMessage({ ready: true }, "*");
