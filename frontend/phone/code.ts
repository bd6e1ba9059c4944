// The one-time code by which this phone is let in: from the link behind the QR
// code, or pasted.

/** codeIn finds the secret in a link, a setup code or the bare secret; "" when it is none of them. */
export function codeIn(text: string): string {
  const bare = text.trim().replace(/^.*#/s, "").replace(/^oc-pair:\/\//, "").replace(/\s+/g, "");
  if (!/^[\w-]{16,4096}$/.test(bare)) return "";
  if (!bare.startsWith("eyJ")) return bare.length <= 512 ? bare : "";
  try {
    const code = JSON.parse(atob(bare.replaceAll("-", "+").replaceAll("_", "/"))) as { bootstrapToken?: unknown };
    return typeof code.bootstrapToken === "string" ? code.bootstrapToken : "";
  } catch {
    return "";
  }
}

/** takeCode reads the code behind the address and wipes it from there and from the history. */
export function takeCode(): string {
  const code = codeIn(location.hash.slice(1));
  if (location.hash !== "" || location.search !== "" || location.pathname !== "/phone/") history.replaceState(null, "", "/phone/");
  return code;
}
