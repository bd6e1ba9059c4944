// What a page needs to know of the window around it. It runs in the gateway's
// page after each load.
(() => {
  if (window.hearthShell) return;
  window.hearthShell = true;
  const tell = (m) => (window.webkit?.messageHandlers?.external ?? window.chrome?.webview)?.postMessage(m);
  // A web view opens no second window: links to elsewhere go to the browser.
  document.addEventListener(
    "click",
    (e) => {
      const a = e.target instanceof Element ? e.target.closest("a[href]") : null;
      if (!a || e.defaultPrevented) return;
      const url = new URL(a.href, location.href);
      if (url.origin === location.origin || !/^(https?|mailto):$/.test(url.protocol)) return;
      e.preventDefault();
      tell("BO:" + url.href);
    },
    false,
  );
  // The page may close the window when Hearth was quit, or go back to the page that
  // starts it.
  window.hearthWindow = { quit: () => tell("Q"), start: () => location.replace(window.hearthLoader) };
  // The small window goes away with Escape, when that means nothing else.
  if (window.hearthQuick) {
    addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || document.querySelector("dialog[open]")) return;
      setTimeout(() => e.defaultPrevented || tell("Q"));
    });
    const began = Date.now();
    const focus = () => {
      const c = document.getElementById("composer");
      if (c) c.focus();
      else if (Date.now() - began < 8000) setTimeout(focus, 60);
    };
    focus();
  }
  // Larger and smaller, as in a browser.
  let zoom = 1;
  try {
    zoom = Number(localStorage.getItem("hearth.zoom")) || 1;
  } catch {}
  const apply = (z) => {
    zoom = Math.min(2.5, Math.max(0.6, Math.round(z * 10) / 10));
    document.documentElement.style.zoom = String(zoom);
    try {
      localStorage.setItem("hearth.zoom", String(zoom));
    } catch {}
  };
  if (zoom !== 1) apply(zoom);
  document.addEventListener("keydown", (e) => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey) return;
    if (e.key === "+" || e.key === "=") apply(zoom + 0.1);
    else if (e.key === "-") apply(zoom - 0.1);
    else if (e.key === "0") apply(1);
    else return;
    e.preventDefault();
  });
})();
