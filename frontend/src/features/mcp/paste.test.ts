import { expect, test } from "vitest";
import { filled, line, nameFor, paste, relaxed, settings, words } from "./paste";

const first = (text: string) => {
  const p = paste(text);
  expect([p.trouble, p.left]).toEqual([undefined, []]);
  return p.servers[0]!;
};

test("what Claude Desktop, Cursor and Claude Code write", () => {
  const s = first(`{ "mcpServers": { "File System": {
    "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/anna/My Documents"], "env": { "DEBUG": 1 } } } }`);
  expect(s.name).toBe("file-system");
  expect(settings(s)).toEqual({
    command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/anna/My Documents"], env: { DEBUG: "1" },
  });
  expect(line(s)).toBe("npx -y @modelcontextprotocol/server-filesystem '/home/anna/My Documents'");
});

test("what VS Code writes: comments, commas, inputs and variables", () => {
  const s = first(`{
    // my servers
    "inputs": [{ "type": "promptString", "id": "token", "password": true }],
    "servers": { "github": { "type": "http", "url": "https://api.example.com/mcp/",
      "headers": { "Authorization": "Bearer \${input:token}", "X": "\${env:TEAM}" }, }, },
  }`);
  expect(s).toMatchObject({ name: "github", url: "https://api.example.com/mcp/", holes: ["${input:token}"] });
  expect(settings(filled(s, { "${input:token}": " ghp_1 " }))).toEqual({
    url: "https://api.example.com/mcp/", headers: { Authorization: "Bearer ghp_1", X: "${TEAM}" },
  });
  expect(first(`{"mcp": {"servers": {"a": {"command": "a"}}}}`).name).toBe("a");
});

test("Zed, Windsurf, a piece of a file, one server alone, fences", () => {
  expect(first(`{"context_servers": {"db": {"command": {"path": "/usr/bin/db", "args": ["--ro"], "env": {}}}}}`)).toMatchObject({
    command: "/usr/bin/db", args: ["--ro"],
  });
  expect(first(`{"mcpServers": {"x": {"serverUrl": "https://x.example/mcp"}}}`).url).toBe("https://x.example/mcp");
  expect(first(`"notes": { "command": "uvx", "args": ["notes-mcp"], "disabled": true },`)).toMatchObject({ name: "notes", off: true });
  expect(first("```json\n{\"command\": \"uvx\", \"args\": [\"mcp-server-git\"]}\n```").name).toBe("git");
  expect(first(`{"a": {"command": "x"}}`).name).toBe("a");
});

test("a command as it is typed, and an address", () => {
  expect(first("npx -y @playwright/mcp@latest --headless")).toMatchObject({
    name: "mcp", command: "npx", args: ["-y", "@playwright/mcp@latest", "--headless"],
  });
  expect(first("https://mcp.linear.app/mcp")).toMatchObject({ name: "linear", url: "https://mcp.linear.app/mcp" });
  expect(first("/opt/thing --x")).toMatchObject({ command: "/opt/thing --x" });
  expect(words(`a "b c" 'd e' f\\ g "h\\"i"`)).toEqual(["a", "b c", "d e", "f g", `h"i`]);
});

test("what cannot be used is said, and never half taken", () => {
  expect(paste("").trouble).toBe("empty");
  expect(paste("{ nonsense").trouble).toBe("json");
  expect(paste("two\nlines").trouble).toBe("json");
  expect(paste("[]").trouble).toBe("nothing");
  expect(paste(`{"theme": "dark"}`).trouble).toBe("nothing");
  expect(paste("x".repeat(300_000)).trouble).toBe("long");
  expect(paste(`{"mcpServers": {"old": {"url": "https://x.example/sse"}, "odd": {"args": []}, "no": null}}`)).toMatchObject({
    servers: [], left: [{ name: "old", why: "sse" }, { name: "odd", why: "odd" }, { name: "no", why: "odd" }],
  });
});

test("names are such as the settings take, and no two the same", () => {
  expect(nameFor("Größe__of: _things_")).toBe("gro-e_of-_things");
  expect(paste(`{"mcpServers": {"A b": {"command": "x"}, "a-b": {"command": "y"}}}`).servers.map((s) => s.name)).toEqual(["a-b", "a-b-2"]);
  expect(nameFor("x".repeat(40))).toHaveLength(24);
});

test("text in JSON stays as it is", () => {
  expect(JSON.parse(relaxed(`{"a": "// no, /* x */ ,}", "b": [1, 2, ], /* c */ }`))).toEqual({ a: "// no, /* x */ ,}", b: [1, 2] });
  expect(relaxed(`/* never closed`)).toBe("");
});
