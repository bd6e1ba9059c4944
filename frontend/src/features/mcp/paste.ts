// What other programs write about MCP servers, read into what Hearth's settings say:
// Claude Desktop, Claude Code, Cursor and Windsurf (mcpServers), VS Code (servers, also
// inside "mcp", with inputs), Zed (context_servers), one server alone, a command as it is
// typed, or the address of a service.

export interface Server {
  /** as the settings allow it; "" = a person has to give one */
  name: string;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  /** what stands for a value that nobody has given yet: ${input:token}, <YOUR_KEY> */
  holes: string[];
  off?: boolean;
}

export type Trouble = "empty" | "json" | "nothing" | "long";

export interface Pasted {
  servers: Server[];
  /** entries that say neither what to start nor where to go, or want the old transport */
  left: { name: string; why: "sse" | "odd" }[];
  trouble?: Trouble;
}

const most = 256 * 1024;
const mostServers = 40;
type Tree = Record<string, unknown>;

const isTree = (v: unknown): v is Tree => typeof v === "object" && v !== null && !Array.isArray(v);

/** relaxed takes comments and commas before a closing bracket out of JSON; text stays as it is. */
export function relaxed(text: string): string {
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') {
      const from = i;
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === "\\") i++;
      out += text.slice(from, i + 1);
    } else if (c === "/" && text[i + 1] === "/") {
      while (i + 1 < text.length && text[i + 1] !== "\n") i++;
    } else if (c === "/" && text[i + 1] === "*") {
      const end = text.indexOf("*/", i + 2);
      i = end < 0 ? text.length : end + 1;
    } else {
      if (c === "}" || c === "]") out = out.replace(/,\s*$/, "");
      out += c;
    }
  }
  return out;
}

/** nameFor makes a name that the settings take. */
export function nameFor(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/_{2,}/g, "_")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, 24)
    .replace(/[-_]+$/, "");
}

/** words splits a command as a shell would, without doing anything else that a shell does. */
export function words(line: string): string[] {
  const out: string[] = [];
  for (const m of line.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g)) {
    const piece = /\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g;
    out.push(m[0].replace(piece, (_, esc, dq, sq) => esc ?? (dq as string | undefined)?.replace(/\\(.)/g, "$1") ?? sq));
  }
  return out;
}

const plain = (x: unknown): boolean => ["string", "number", "boolean"].includes(typeof x);

const texts = (v: unknown): string[] => (Array.isArray(v) ? v.filter(plain).map(String) : []);

const table = (v: unknown): Record<string, string> =>
  isTree(v)
    ? Object.fromEntries(Object.entries(v).flatMap(([k, x]) => (plain(x) ? [[k, String(x)]] : [])))
    : {};

/** holesOf finds what a person has to fill in. ${env:NAME} is what the settings call ${NAME}. */
const open = /\$\{input:[^}]*\}|<[A-Za-z][\w -]{2,40}>|\b(?:YOUR|MY)[_-][A-Z0-9_-]{2,}\b/g;
const holesOf = (values: string[]): string[] => [...new Set(values.flatMap((v) => v.match(open) ?? []))];

const env = (v: string): string => v.replace(/\$\{env:(\w+)\}/g, "${$1}");

function one(name: string, v: unknown): Server | "sse" | "odd" {
  if (!isTree(v)) return "odd";
  // Zed writes the program into an object.
  const program = isTree(v["command"]) ? v["command"] : v;
  const command = program === v ? v["command"] : program["path"];
  const url = v["url"] ?? v["serverUrl"] ?? v["httpUrl"];
  const kind = v["type"] ?? v["transport"];
  const off = v["disabled"] === true || v["enabled"] === false;
  if (typeof url === "string" && /^https?:\/\//i.test(url)) {
    if (kind === "sse" || /\/sse\/?$/.test(url)) return "sse";
    const headers = table(v["headers"]);
    for (const k of Object.keys(headers)) headers[k] = env(headers[k]!);
    return { name: nameFor(name), url: env(url), headers, holes: holesOf([url, ...Object.values(headers)]), off };
  }
  if (typeof command !== "string" || command.trim() === "") return "odd";
  const given = texts(program["args"]).map(env);
  // Some write the whole line as the command.
  const [first, ...more] = given.length === 0 && !/^[~/]|^[A-Za-z]:\\/.test(command) ? words(command) : [command];
  const args = [...more, ...given];
  const vars = table(program["env"] ?? v["env"]);
  for (const k of Object.keys(vars)) vars[k] = env(vars[k]!);
  const cwd = typeof v["cwd"] === "string" ? v["cwd"] : undefined;
  return {
    name: nameFor(name), command: first!, args, env: vars, ...(cwd ? { cwd } : {}), holes: holesOf([...args, ...Object.values(vars)]), off,
  };
}

const lists = ["mcpServers", "servers", "context_servers", "mcp_servers"];

function among(tree: Tree): Tree | null {
  for (const key of lists) if (isTree(tree[key])) return tree[key];
  if (isTree(tree["mcp"])) return among(tree["mcp"]);
  return null;
}

/** guess names a server after its package or its machine. */
function guess(s: Server): string {
  if (s.url) return nameFor(new URL(s.url).hostname.replace(/^(www|api|mcp)\./, "").split(".")[0]!);
  const pkg = (s.args ?? []).find((a) => !a.startsWith("-")) ?? s.command!;
  return nameFor(pkg.split("/").at(-1)!.replace(/@[^@]*$/, "").replace(/^(mcp-)?server-|-mcp(-server)?$|^mcp-/g, ""));
}

/** paste reads what somebody pasted. */
export function paste(text: string): Pasted {
  const t = text.trim().replace(/^```\w*\n([^]*?)\n?```$/, "$1").trim();
  if (t === "") return { servers: [], left: [], trouble: "empty" };
  if (t.length > most) return { servers: [], left: [], trouble: "long" };
  if (/^https?:\/\/\S+$/i.test(t)) return read({ "": { url: t } });
  if (!/[{[]/.test(t[0]!) && !t.startsWith('"') && !t.startsWith("/")) return t.includes("\n") ? bad() : read({ "": { command: t } });
  let doc: unknown;
  try {
    const r = relaxed(t);
    // A piece out of the middle of a file: "name": { … }
    doc = JSON.parse(r.trim().startsWith('"') ? `{${r.replace(/,\s*$/, "")}}` : r);
  } catch {
    return t.startsWith("/") && !t.includes("\n") ? read({ "": { command: t } }) : bad();
  }
  if (!isTree(doc)) return { servers: [], left: [], trouble: "nothing" };
  const list = among(doc);
  if (list) return read(list);
  if (typeof doc["command"] === "string" || typeof doc["url"] === "string") return read({ [String(doc["name"] ?? "")]: doc });
  const named = Object.fromEntries(Object.entries(doc).filter(([, v]) => isTree(v) && ("command" in v || "url" in v || "serverUrl" in v)));
  return Object.keys(named).length > 0 ? read(named) : { servers: [], left: [], trouble: "nothing" };
}

const bad = (): Pasted => ({ servers: [], left: [], trouble: "json" });

function read(list: Tree): Pasted {
  const out: Pasted = { servers: [], left: [] };
  const names = new Set<string>();
  for (const [name, v] of Object.entries(list).slice(0, mostServers)) {
    const s = one(name, v);
    if (typeof s === "string") out.left.push({ name, why: s });
    else {
      const base = s.name || guess(s) || "server";
      let free = base;
      for (let n = 2; names.has(free); n++) free = `${base.slice(0, 21)}-${n}`;
      names.add(free);
      out.servers.push({ ...s, name: free });
    }
  }
  return out.servers.length + out.left.length > 0 ? out : { ...out, trouble: "nothing" };
}

/** settings is what is written for a server. */
export function settings(s: Server): Tree {
  const some = (v: Record<string, string> | undefined): boolean => Object.keys(v ?? {}).length > 0;
  return {
    ...(s.command ? { command: s.command } : {}),
    ...(s.args?.length ? { args: s.args } : {}),
    ...(some(s.env) ? { env: s.env } : {}),
    ...(s.cwd ? { cwd: s.cwd } : {}),
    ...(s.url ? { url: s.url } : {}),
    ...(some(s.headers) ? { headers: s.headers } : {}),
    ...(s.off ? { enabled: false } : {}),
  };
}

/** filled puts values in the place of holes. */
export function filled(s: Server, values: Record<string, string>): Server {
  const put = (v: string): string => s.holes.reduce((x, h) => x.replaceAll(h, values[h]?.trim() || h), v);
  const all = (v: Record<string, string> | undefined): Record<string, string> =>
    Object.fromEntries(Object.entries(v ?? {}).map(([k, x]) => [k, put(x)]));
  return {
    ...s,
    ...(s.args ? { args: s.args.map(put) } : {}),
    ...(s.env ? { env: all(s.env) } : {}),
    ...(s.headers ? { headers: all(s.headers) } : {}),
    ...(s.url ? { url: put(s.url) } : {}),
  };
}

/** line is the command as a person would type it. */
export const line = (s: Server): string =>
  s.url ?? [s.command!, ...(s.args ?? [])].map((w) => (/^[\w@%+=:,./~-]+$/.test(w) ? w : `'${w.replaceAll("'", `'\\''`)}'`)).join(" ");
