package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMCPSettings(t *testing.T) {
	f := open(t, place(t, `{ mcp: { servers: {
		files: { command: "npx", args: ["-y", "x"], cwd: "~/d", env: { A_KEY: "canary-7f3a9c-1", OTHER: { source: "env", id: "X" } }, tools: { allow: ["read*"], deny: ["w"] },
			ask: "always", timeoutSeconds: 5, startSeconds: 6, sandbox: { backend: "off", read: ["~/a"], write: ["~/b"], network: false } },
		tracker: { url: "https://mcp.example.com/mcp", transport: "streamable-http", headers: { Authorization: "Bearer canary-7f3a9c-2" }, toolFilter: { include: ["a"], exclude: ["b"] }, enabled: false },
	} } }`), Options{})
	c := f.Snapshot().Config
	s := c.MCP.Servers["files"]
	if v, ok := s.Env["A_KEY"].Literal(); !ok || v.Reveal() != "canary-7f3a9c-1" {
		t.Error("a variable is missing")
	}
	if _, ok := s.Env["OTHER"].Ref(); !ok {
		t.Error("a reference is missing")
	}
	s.Env = nil
	want := MCPServer{
		Enabled: true, Command: "npx", Args: []string{"-y", "x"}, Cwd: "~/d", Tools: MCPTools{Allow: []string{"read*"}, Deny: []string{"w"}},
		Ask: "always", TimeoutSeconds: 5, StartSeconds: 6, Sandbox: MCPSandbox{Backend: "off", Read: []string{"~/a"}, Write: []string{"~/b"}},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	s = c.MCP.Servers["tracker"]
	if v, ok := s.Headers["Authorization"].Literal(); !ok || v.Reveal() != "Bearer canary-7f3a9c-2" {
		t.Error("a header is missing")
	}
	s.Headers = nil
	want = MCPServer{
		URL: "https://mcp.example.com/mcp", Tools: MCPTools{Allow: []string{"a"}, Deny: []string{"b"}}, Ask: "on-miss",
		Sandbox: MCPSandbox{Backend: "auto", Network: true},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	r, err := f.Snapshot().Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{*r.Raw, string(r.Parsed), string(r.Config)} {
		if strings.Contains(text, "canary-7f3a9c") {
			t.Errorf("a secret is shown: %s", text)
		}
	}
	copied := c.Clone()
	copied.MCP.Servers["files"].Args[0] = "other"
	delete(copied.MCP.Servers, "tracker")
	if len(c.MCP.Servers) != 2 || c.MCP.Servers["files"].Args[0] != "-y" {
		t.Error("a copy shares what can be changed")
	}
}

func TestMCPMistakes(t *testing.T) {
	for server, want := range map[string]string{
		`x: {}`: "needs command",
		`x: { command: "a", url: "https://b.c/d" }`:           "not both",
		`x: { command: "a", headers: { A: "b" } }`:            "headers, auth and oauth belong to url",
		`"a__b": { command: "a" }`:                            "name of an MCP server",
		`Files: { command: "a" }`:                             "name of an MCP server",
		`"_a": { command: "a" }`:                              "name of an MCP server",
		`abcdefghijklmnopqrstuvwxy: { command: "a" }`:         "name of an MCP server",
		`x: { command: "" }`:                                  "",
		`x: { command: ["a"] }`:                               "",
		`x: { command: "a", args: "b" }`:                      "",
		`x: { command: "a", env: { "A=B": "c" } }`:            "letters, digits and _",
		`x: { command: "a", auth: "oauth" }`:                  "belong to url",
		`x: { url: "https://b.c", auth: "basic" }`:            "",
		`x: { url: "https://b.c", oauth: { clientId: "" } }`:  "",
		`x: { url: "ftp://b.c" }`:                             "",
		`x: { url: "https://b.c", headers: { "A B": "c" } }`:  "name of a header",
		`x: { command: "a", transport: "pigeon" }`:            "",
		`x: { command: "a", ask: "never" }`:                   "",
		`x: { command: "a", timeoutSeconds: 0 }`:              "",
		`x: { command: "a", startSeconds: 601 }`:              "",
		`x: { command: "a", tools: { allow: ["["] } }`:        "no pattern",
		`x: { command: "a", sandbox: { backend: "docker" } }`: "",
		`x: { command: "a", sandbox: { network: "no" } }`:     "",
	} {
		s, err := Inspect(place(t, `{ mcp: { servers: { `+server+` } } }`), Options{})
		if err != nil || s.Valid {
			t.Errorf("%s was taken: %v", server, err)
			continue
		}
		said := ""
		for _, i := range s.Issues {
			said += i.Message + "\n"
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s", server, said)
		}
	}
}

func TestMCPOAuthSettings(t *testing.T) {
	f := open(t, place(t, `{ mcp: { servers: { x: { url: "https://a.b/mcp", auth: "oauth", oauth: { scope: "a b", clientId: "c", clientSecret: "canary-7f3a9c-3", redirectUrl: "http://127.0.0.1:8765/x", identity: "shared" } } } } }`), Options{})
	s := f.Snapshot().Config.MCP.Servers["x"]
	if v, ok := s.OAuth.ClientSecret.Literal(); !ok || v.Reveal() != "canary-7f3a9c-3" || s.Auth != "oauth" || s.OAuth.Scope != "a b" ||
		s.OAuth.ClientID != "c" || s.OAuth.RedirectURL != "http://127.0.0.1:8765/x" {
		t.Errorf("%+v", s)
	}
	if r, err := f.Snapshot().Redacted(); err != nil || strings.Contains(*r.Raw+string(r.Parsed)+string(r.Config), "canary-7f3a9c") {
		t.Error("a secret is shown")
	}
}

// Other programs' names for the same.
func TestMCPNamesOfOthers(t *testing.T) {
	c := open(t, place(t, `{ mcp: { servers: {
		a: { type: "stdio", command: "x", workingDirectory: "/w", disabled: true, requestTimeoutMs: 1500, connectionTimeoutMs: 20000 }, b: { type: "http", url: "https://a.b/c", disabled: false },
	} } }`), Options{}).Snapshot().Config.MCP.Servers
	if a := c["a"]; a.Enabled || a.Cwd != "/w" || a.TimeoutSeconds != 2 || a.StartSeconds != 20 || !c["b"].Enabled {
		t.Errorf("%+v", c)
	}
}

func TestMCPServing(t *testing.T) {
	if open(t, place(t, `{}`), Options{}).Snapshot().Config.MCP.Serve.HTTP.Enabled {
		t.Error("it serves without being told to")
	}
	if !open(t, place(t, `{ mcp: { serve: { http: { enabled: true } } } }`), Options{}).Snapshot().Config.MCP.Serve.HTTP.Enabled {
		t.Error("it does not serve")
	}
}

// Not asking is told about.
func TestMCPAskOffWarns(t *testing.T) {
	s, err := Inspect(place(t, `{ mcp: { servers: { x: { command: "a", ask: "off" } } } }`), Options{})
	if err != nil || !s.Valid || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Message, "without asking you") {
		t.Errorf("%v %+v %+v", err, s.Issues, s.Warnings)
	}
}
