// A channel for Hearth, whole, without a library.
//
// Node 22.18 and newer run it as it is: node lines.ts. For older ones make JavaScript
// of it first: npx esbuild lines.ts --platform=node --format=esm --outfile=lines.mjs.
// The network is that of ../channel-python: a server that speaks lines over TCP, each
// a word and a JSON value. docs/channels/write-your-own.md says what each request is
// for.
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";

type Params = Record<string, any>;
type Message = { id?: string | number; method?: string; params?: Params; result?: unknown; error?: { code: number; message: string } };
type Value = { id?: string; from?: string; to?: string; key?: string; text?: string; why?: string; ms?: number };

/** An error with the code that says what it means. */
class Failure extends Error {
  code: number;
  data?: { afterMs: number };
  constructor(code: number, words: string, data?: { afterMs: number }) {
    super(words);
    this.code = code;
    this.data = data;
  }
}

function write(message: Message): void {
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
}

const asked = new Map<string, (answer: Message) => void>(); // our requests to the gateway
let count = 0;

/** Asks the gateway; true when it answered without an error. */
function ask(method: string, params: Params): Promise<boolean> {
  const id = `${method}-${++count}`;
  return new Promise((resolve) => {
    asked.set(id, (answer) => resolve(answer.error === undefined));
    write({ id, method, params });
  });
}

class Account {
  host: string;
  port: number;
  server: Socket | undefined; // while it is connected
  receipts = new Map<string, (v: Value) => void>(); // of what is on its way

  constructor(settings: Record<string, string>) {
    const [, host, port] = /^(.*):(\d+)$/.exec(settings.server ?? "") ?? [];
    if (!port) throw new Failure(1, 'set channels.program.options to ["server=HOST:PORT"]');
    this.host = host;
    this.port = Number(port);
  }

  /** Connects, again for ever; the gateway is told how it is. */
  run(): void {
    const server = connect(this.port, this.host);
    let problem = "the connection ended";
    server.on("connect", () => {
      this.server = server;
      write({ method: "status", params: { state: "receiving", bot: "lines" } });
    });
    server.on("error", (e) => (problem = e.message));
    createInterface({ input: server })
      .on("line", (line) => this.came(line))
      .on("error", () => {}); // the connection's own, told by its end
    server.on("close", () => {
      this.server = undefined;
      for (const receipt of this.receipts.values()) receipt({ why: "broken" }); // sent, and nobody knows
      const words = `The server ${this.host} cannot be reached: ${problem}. It is tried again.`;
      write({ method: "status", params: { state: "waiting", problem: words } });
      setTimeout(() => this.run(), 200);
    });
  }

  came(line: string): void {
    const space = line.indexOf(" ");
    const value: Value = JSON.parse(line.slice(space + 1));
    if (line.slice(0, space) === "MSG") void this.take(value);
    else this.receipts.get(value.key ?? "")?.(value);
  }

  async take(m: Value): Promise<void> {
    const taken = await ask("inbound", {
      chat: "direct", conversation: m.from, senderId: m.from, senderName: m.from, messageId: m.id, text: m.text, atMs: Date.now(),
    });
    this.server?.write(`${taken ? "TAKEN" : "AGAIN"} ${JSON.stringify({ id: m.id })}\n`); // only now: the gateway has it
  }

  async send(p: Params): Promise<{ messageId: string }> {
    if (!this.server) throw new Failure(-1, "not connected"); // nothing was sent: it passes
    const key = `${p.key}-${++count}`;
    const line = JSON.stringify({ key, to: p.to.conversation, text: p.text });
    const got = await new Promise<Value>((resolve) => {
      this.receipts.set(key, resolve);
      this.server?.write(`SEND ${line}\n`);
    });
    this.receipts.delete(key);
    if (got.id) return { messageId: got.id };
    if (got.why === "wait") throw new Failure(4, "too fast", { afterMs: got.ms ?? 1000 });
    const code = { refused: 1, broken: 2, auth: 3 }[got.why ?? ""] ?? -1;
    throw new Failure(code, `the server says ${got.why}`);
  }
}

let account: Account | undefined;

async function answer(method: string, p: Params): Promise<unknown> {
  if (method === "ping") return {};
  if (method === "initialize") {
    account = new Account(p.settings);
    return { protocol: 1, name: "lines", version: "1", limits: { text: 200 }, can: [] };
  }
  if (!account) throw new Failure(-32600, "initialize comes first");
  switch (method) {
    case "start":
      account.run();
      return {};
    case "stop":
      return {};
    case "send":
      return account.send(p);
  }
  throw new Failure(-32601, `there is no ${method} here`);
}

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const message: Message = JSON.parse(line);
    const id = message.id;
    if (message.method === undefined) {
      asked.get(String(id))?.(message);
      asked.delete(String(id));
      return;
    }
    try {
      write({ id, result: await answer(message.method, message.params ?? {}) });
    } catch (e) {
      const f = e instanceof Failure ? e : new Failure(-32603, String(e));
      write({ id, error: { code: f.code, message: f.message, ...(f.data && { data: f.data }) } });
    }
  })
  .on("close", () => process.exit(0)); // the gateway closed our input
