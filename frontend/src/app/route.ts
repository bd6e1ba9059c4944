// The address of the page. It names the open session and, once, a launch code;
// nothing else in it is ever read, in particular no gateway and no token.
const longestKey = 512;

/** takeLaunchCode reads the one-time code and wipes it from the address and the history entry. */
export function takeLaunchCode(): string {
  const code = /^#launch=([\w.~-]{4,512})$/.exec(location.hash)?.[1] ?? "";
  if (location.hash.startsWith("#launch")) history.replaceState(null, "", location.pathname);
  return code;
}

export function sessionInUrl(): string {
  const m = /^#\/chat\/(.+)$/.exec(location.hash);
  if (!m) return "";
  try {
    const key = decodeURIComponent(m[1]!);
    return key.length <= longestKey && !/[\u0000-\u001f\u007f]/.test(key) ? key : "";
  } catch {
    return "";
  }
}

export function go(key: string): void {
  const hash = "#/chat/" + encodeURIComponent(key);
  if (location.hash !== hash) history.pushState(null, "", location.pathname + hash);
}
