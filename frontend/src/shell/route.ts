// The address of the page. It names the open session and, once, a launch code
// with a place to go to; nothing else in it is ever read, in particular no
// gateway and no token.
const longestKey = 512;

/** takeLaunch reads the one-time code, and where to go, and wipes them from the address and the history entry. */
export function takeLaunch(): { code: string; where: string[] } {
  const [, code = "", where = ""] = /^#launch=([\w.~-]{4,512})(?:&go=([\w%.~-]{1,90000}))?$/.exec(location.hash) ?? [];
  if (location.hash.startsWith("#launch")) history.replaceState(null, "", location.pathname);
  return { code, where: plain(where).split("/").map(plain) };
}

const plain = (s: string): string => {
  try {
    return decodeURIComponent(s);
  } catch {
    return "";
  }
};

/** takeNews reads what the notification carried that opened the page, and wipes it from the address. */
export function takeNews(): string {
  const [, ref = ""] = /^#news=([\w-]{20,64})$/.exec(location.hash) ?? [];
  if (location.hash.startsWith("#news")) history.replaceState(null, "", location.pathname);
  return ref;
}

export function sessionInUrl(): string {
  return sessionIn(plain(parts()[1] ?? ""));
}

/** pastInUrl is the earlier conversation of that session that is open, "" for none. */
export const pastInUrl = (): string => parts()[2] ?? "";

const parts = (): string[] => /^#\/chat\/(.+?)(?:\/earlier\/([0-9a-f-]{36}))?$/.exec(location.hash) ?? [];

/** sessionIn is a session key from outside, if it can be one. */
export function sessionIn(key: string): string {
  return key.length <= longestKey && !/[\u0000-\u001f\u007f]/.test(key) ? key : "";
}

export function go(key: string, past = ""): void {
  const hash = "#/chat/" + encodeURIComponent(key) + (past ? "/earlier/" + past : "");
  if (location.hash === hash) return;
  history[isOver() ? "replaceState" : "pushState"](null, "", location.pathname + hash);
}

/** over gives what opens over the page a place in the history, so that Back leaves that first. */
export function over(): void {
  if (!isOver()) history.pushState({ over: true }, "");
}

const isOver = (): boolean => (history.state as { over?: unknown } | null)?.over === true;

/** onward goes one further back where a step back came from what was over the page and is closed: it showed nothing. */
export function onward(key: string, past = ""): void {
  if (!isOver() && key !== "" && key === sessionInUrl() && past === pastInUrl()) history.back();
}
