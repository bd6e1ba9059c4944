// An MCP service with one tool that wants a login, and the place to log in.
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const read = async (req) => {
  let s = "";
  for await (const piece of req) s += piece;
  return s;
};

/** service starts one; its url is that of the service. */
export async function service() {
  const tokens = new Set();
  const codes = new Map();
  let origin = "";
  const server = createServer(async (req, res) => {
    const url = new URL(req.url, origin);
    const json = (body, status = 200) => res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const body = await read(req);
    switch (url.pathname) {
      case "/mcp": {
        if (!tokens.has(req.headers.authorization?.replace("Bearer ", ""))) return res.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
        if (req.method !== "POST") return res.writeHead(405).end();
        const m = JSON.parse(body);
        if (m.id === undefined) return res.writeHead(202).end();
        const result = {
          initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "Notes", version: "1" } },
          "tools/list": { tools: [{ name: "add", description: "Adds a note", inputSchema: { type: "object" } }] },
        }[m.method];
        return json(result ? { jsonrpc: "2.0", id: m.id, result } : { jsonrpc: "2.0", id: m.id, error: { code: -32601, message: "no" } });
      }
      case "/.well-known/oauth-protected-resource/mcp":
        return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      case "/.well-known/oauth-authorization-server":
        return json({
          issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"], code_challenge_methods_supported: ["S256"],
        });
      case "/register":
        return json({ client_id: "hearth", redirect_uris: JSON.parse(body).redirect_uris }, 201);
      case "/authorize": {
        const code = randomUUID();
        codes.set(code, url.searchParams.get("code_challenge"));
        return res.writeHead(302, { Location: `${url.searchParams.get("redirect_uri")}?code=${code}&state=${url.searchParams.get("state")}` }).end();
      }
      case "/token": {
        const form = new URLSearchParams(body);
        if (createHash("sha256").update(form.get("code_verifier")).digest("base64url") !== codes.get(form.get("code"))) return json({ error: "invalid_grant" }, 400);
        const token = randomUUID();
        tokens.add(token);
        return json({ access_token: token, token_type: "Bearer", expires_in: 3600 });
      }
      default:
        return res.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${server.address().port}`;
  return { url: `${origin}/mcp`, close: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
}
