// Which links of a text may be followed, and what a person must see of them.
import { decode } from "./entities";

export interface SafeLink {
  href: string;
  /** what is reached: a host, or an address for mailto */
  host: string;
  /** the words of the link name another host than the one it leads to */
  mismatch: boolean;
  /** the words already show the host */
  shown: boolean;
}

// Anything a browser would skip or fold while it reads a scheme.
// eslint-disable-next-line no-control-regex
const invisible = /[\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const hostLike = /(?:^|[\s(<])(?:https?:\/\/)?((?:[\p{L}\p{N}-]+\.)+[\p{L}]{2,})(?=$|[\s/:?#)>.,;!])/iu;

/**
 * safeLink returns null for everything that must not become a link: other
 * schemes, relative addresses, addresses with a user name or with invisible
 * characters.
 */
export function safeLink(rawHref: string, text: string): SafeLink | null {
  const href = decode(rawHref).trim();
  if (href.length > 4096 || invisible.test(href) || !/^(?:https?:\/\/|mailto:)/i.test(href)) return null;
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return null;
  }
  if (url.protocol === "mailto:") return mail(url, text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  if (url.username !== "" || url.password !== "" || url.hostname === "") return null;
  const claimed = hostLike.exec(text.trim())?.[1]?.toLowerCase();
  const host = url.hostname;
  const bare = (h: string) => h.replace(/^www\./, "");
  const same = claimed !== undefined && bare(asciiHost(claimed)) === bare(host);
  // "notes.md" or "main.go" in a link's words is a file name, not a host.
  const isFile = claimed !== undefined && !same && !claimed.includes("/") && fileName.test(claimed) && !/:\/\//.test(text);
  return { href: url.href, host: url.host, shown: same, mismatch: claimed !== undefined && !same && !isFile };
}

const fileName = /^[^.]+\.(?:md|go|js|ts|py|rs|sh|json|txt|html?|css|ya?ml|toml|java|rb|pl|cc|cpp|cs|php|sql|zip|pdf|png|svg)$/i;

function mail(url: URL, text: string): SafeLink | null {
  const to = url.pathname;
  if (!/^[^@\s<>"]+@[^@\s<>"]+$/.test(to)) return null;
  // Only the address is kept: a link must not fill in a message.
  return { href: "mailto:" + to, host: to, shown: text.includes(to), mismatch: false };
}

function asciiHost(h: string): string {
  try {
    return new URL("https://" + h).hostname;
  } catch {
    return h;
  }
}
