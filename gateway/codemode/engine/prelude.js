// Runs once, when the boot image is made. It takes the host function away from
// everybody, removes what a cell must not have, and hands the host four
// functions of its own. It uses only what it captured before any cell ran.
(function (proxyWrapper) {
  "use strict";
  const G = globalThis;
  // The raw C function, so that a cell cannot get between us and it.
  let raw;
  {
    const call = Function.prototype.call;
    Function.prototype.call = function () { raw = this; };
    proxyWrapper();
    Function.prototype.call = call;
  }
  const BOOT = 0, CALL = 1, OUTPUT = 2, DONE = 3;
  const host = (op, payload) => raw(1, 0, 0, undefined, op, payload);

  const { parse, stringify } = JSON;
  const P = Promise, then = P.prototype.then, M = Map;
  const mapGet = M.prototype.get, mapSet = M.prototype.set, mapDelete = M.prototype.delete;
  const { apply } = Reflect;
  const { defineProperty, freeze, create, keys } = Object;
  const E = Error, TE = TypeError, RE = RangeError, S = String;
  const slice = S.prototype.slice, indexOf = Array.prototype.indexOf, pop = Array.prototype.pop;
  const AsyncFunction = (async function () {}).constructor;
  const gc = G.gc;

  for (const k of ["std", "os", "bjson", "setTimeout", "setInterval", "clearTimeout", "clearInterval",
    "print", "console", "scriptArgs", "gc", "navigator", "performance", "QJS_PROXY_VALUE",
    "SharedArrayBuffer", "Atomics"]) delete G[k];
  // CallSite.getFunction() would hand our closures to a cell.
  defineProperty(E, "prepareStackTrace", { value: undefined, writable: false, configurable: false });

  const cut = (s, n) => apply(slice, s, [0, n]);
  const def = (name, value) => defineProperty(G, name, { value, writable: false, configurable: false, enumerable: true });

  // A value as JSON text. What JSON has no word for becomes a plain string;
  // what throws while it is read goes on throwing.
  const toJSON = (v) => {
    const t = typeof v;
    if (v === undefined) return "null";
    if (t === "function") return stringify("[function " + cut(S(v.name || "anonymous"), 100) + "]");
    if (t === "symbol" || t === "bigint") return stringify(S(v));
    if (v instanceof E) return stringify(describeError(v).text);
    let s;
    try {
      s = stringify(v);
    } catch (first) {
      if (!(first instanceof TE)) throw first;
      // A cycle or a BigInt somewhere inside; a getter that throws throws again.
      const path = [];
      s = stringify(v, function (key, value) {
        if (typeof value === "bigint") return S(value);
        if (value === null || typeof value !== "object") return value;
        while (path.length > 0 && path[path.length - 1] !== this) apply(pop, path, []);
        if (apply(indexOf, path, [value]) >= 0) return "[Circular]";
        path[path.length] = value;
        return value;
      });
    }
    return s === undefined ? "null" : s;
  };
  const describeError = (e) => {
    const d = { text: "unprintable error", stack: "", code: "" };
    try {
      if (e instanceof E) {
        const name = cut(S(e.name), 100), message = cut(S(e.message), 2000);
        d.text = message === "" ? name : name === "" ? message : name + ": " + message;
        if (typeof e.stack === "string") d.stack = cut(e.stack, 2000);
        if (typeof e.code === "string") d.code = cut(e.code, 64);
      } else {
        d.text = cut(typeof e === "string" ? e : toJSON(e), 2000);
      }
    } catch (_) { /* what could be read stands */ }
    return d;
  };

  const pending = new M();
  let seq = 0;
  const request = (method, args) => {
    const w = create(null);
    w.stack = new E("").stack; // a call that fails stands where it was made
    const p = new P((resolve, reject) => { w.resolve = resolve; w.reject = reject; });
    let payload;
    try {
      payload = '","args":[';
      for (let i = 0; i < args.length; i++) payload += (i === 0 ? "" : ",") + toJSON(args[i]);
    } catch (e) {
      w.reject(e);
      return p;
    }
    const id = ++seq;
    if (host(CALL, '{"id":' + id + ',"method":"' + method + payload + ']}') !== 0) {
      w.reject(new RE("the arguments of this call are too large"));
      return p;
    }
    apply(mapSet, pending, [id, w]);
    return p;
  };
  def("text", (v) => {
    host(OUTPUT, '{"type":"text","text":' + (typeof v === "string" ? stringify(v) : stringify(toJSON(v))) + "}");
  });
  def("json", (v) => { host(OUTPUT, '{"type":"json","value":' + toJSON(v) + "}"); });
  def("yield_control", (reason) => request("yield", [reason === undefined ? null : cut(S(reason), 200)]));

  const deepFreeze = (v) => {
    if (v !== null && typeof v === "object") {
      const ks = keys(v);
      for (let i = 0; i < ks.length; i++) deepFreeze(v[ks[i]]);
      freeze(v);
    }
    return v;
  };
  // {"tools":[...],"shortcuts":{...}}: once for each catalogue, in its image.
  const catalog = (payload) => {
    const c = parse(payload);
    const tools = create(null);
    const put = (name, value) => defineProperty(tools, name, { value, enumerable: true });
    put("search", (query, options) => request("search", [S(query), options]));
    put("describe", (id) => request("describe", [S(id)]));
    put("call", (id, input) => request("call", [S(id), input]));
    const names = keys(c.shortcuts);
    for (let i = 0; i < names.length; i++) {
      const name = names[i], id = c.shortcuts[name];
      if (name !== "then" && !(name in tools)) put(name, (input) => request("call", [id, input]));
    }
    def("tools", freeze(tools));
    def("ALL_TOOLS", deepFreeze(c.tools));
  };
  const failed = (e) => { host(DONE, stringify({ ok: false, error: describeError(e) })); };
  const done = (v) => {
    let s;
    try { s = toJSON(v); } catch (e) { failed(e); return; }
    host(DONE, '{"ok":true,"value":' + s + "}");
  };
  // {"code":"...","seed":[a,b,c,d]}
  const start = (payload) => {
    const o = parse(payload);
    let a = o.seed[0], b = o.seed[1], c = o.seed[2], d = o.seed[3];
    const random = () => { // sfc32
      const t = (a + b | 0) + d | 0;
      d = d + 1 | 0;
      a = b ^ b >>> 9;
      b = c + (c << 3) | 0;
      c = (c << 21 | c >>> 11) + t | 0;
      return (t >>> 0) / 4294967296;
    };
    defineProperty(Math, "random", { value: random, writable: true, configurable: true });
    let p;
    try {
      p = new AsyncFunction(o.code)();
    } catch (e) {
      failed(e);
      return;
    }
    apply(then, p, [done, failed]);
  };
  // [{"id":1,"ok":true,"value":...}, {"id":2,"ok":false,"error":{"message","code"}}]
  const settle = (payload) => {
    const list = parse(payload);
    for (let i = 0; i < list.length; i++) {
      const s = list[i], w = apply(mapGet, pending, [s.id]);
      if (w === undefined) continue;
      apply(mapDelete, pending, [s.id]);
      if (s.ok) { w.resolve(s.value); continue; }
      const e = new E(s.error.message);
      defineProperty(e, "stack", { value: w.stack, writable: true, configurable: true });
      defineProperty(e, "code", { value: s.error.code, writable: true, configurable: true, enumerable: true });
      w.reject(e);
    }
  };
  raw(1, 0, 0, undefined, BOOT, start, settle, catalog, gc, "probe \xe9", "probe \u20ac");
})
