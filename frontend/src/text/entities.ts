// Character references in Markdown text, as far as models write them. Unknown
// names stay as they were written; nothing here can make markup.
const named: Record<string, string> = Object.assign(Object.create(null), {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", hellip: "…", mdash: "—", ndash: "–",
  lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•", middot: "·", deg: "°", plusmn: "±", times: "×",
  divide: "÷", frac12: "½", frac14: "¼", frac34: "¾", euro: "€", pound: "£", yen: "¥", cent: "¢", sect: "§", para: "¶", larr: "←",
  uarr: "↑", rarr: "→", darr: "↓", harr: "↔", rArr: "⇒", hArr: "⇔", le: "≤", ge: "≥", ne: "≠", asymp: "≈", infin: "∞", check: "✓",
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", pi: "π", sigma: "σ", omega: "ω", mu: "μ", lambda: "λ", theta: "θ", sum: "∑",
  radic: "√", ensp: "\u2002", emsp: "\u2003", thinsp: "\u2009", shy: "\u00ad", auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö",
  Uuml: "Ü", szlig: "ß", eacute: "é", egrave: "è", agrave: "à", ccedil: "ç", ntilde: "ñ",
});

const reference = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,10}));/g;

export function decode(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(reference, (whole, dec?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = dec !== undefined ? parseInt(dec, 10) : parseInt(hex!, 16);
    const bad = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
    return bad ? "\ufffd" : String.fromCodePoint(code);
  });
}
