package mcp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/feature/mcp"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{mcp.Section}})
}

func TestMCPSettings(t *testing.T) {
	s0 := read(`{ mcp: { servers: {
		files: { command: "npx", args: ["-y", "x"], cwd: "~/d", env: { A_KEY: "canary-7f3a9c-1", OTHER: { source: "env",
			id: "X" } }, tools: { allow: ["read*"], deny: ["w"] },
			ask: "always", timeoutSeconds: 5, startSeconds: 6, sandbox: { backend: "off", read: ["~/a"], write: ["~/b"], network: false } },
		tracker: { url: "https://mcp.example.com/mcp", transport: "streamable-http",
			headers: { Authorization: "Bearer canary-7f3a9c-2" }, toolFilter: { include: ["a"], exclude: ["b"] }, enabled: false },
	} } }`)
	c := mcp.Section.Of(s0.Config)
	s := c.Servers["files"]
	if v, ok := s.Env["A_KEY"].Literal(); !ok || v.Reveal() != "canary-7f3a9c-1" {
		t.Error("a variable is missing")
	}
	if _, ok := s.Env["OTHER"].Ref(); !ok {
		t.Error("a reference is missing")
	}
	s.Env = nil
	want := mcp.ServerSettings{
		Enabled: true, Command: "npx", Args: []string{"-y", "x"}, Cwd: "~/d", Allow: []string{"read*"}, Deny: []string{"w"},
		Ask: "always", TimeoutSeconds: 5, StartSeconds: 6, Sandbox: mcp.Sandbox{Backend: "off", Read: []string{"~/a"}, Write: []string{"~/b"}},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	s = c.Servers["tracker"]
	if v, ok := s.Headers["Authorization"].Literal(); !ok || v.Reveal() != "Bearer canary-7f3a9c-2" {
		t.Error("a header is missing")
	}
	s.Headers = nil
	want = mcp.ServerSettings{
		URL: "https://mcp.example.com/mcp", Allow: []string{"a"}, Deny: []string{"b"}, Ask: "on-miss",
		Sandbox: mcp.Sandbox{Backend: "auto", Network: true},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	r, err := s0.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{*r.Raw, string(r.Parsed), string(r.Config)} {
		if strings.Contains(text, "canary-7f3a9c") {
			t.Errorf("a secret is shown: %s", text)
		}
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
		s := read(`{ mcp: { servers: { ` + server + ` } } }`)
		if s.Valid {
			t.Errorf("%s was taken", server)
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
	s0 := read(`{ mcp: { servers: { x: { url: "https://a.b/mcp", auth: "oauth", oauth: { scope: "a b", clientId: "c",
		clientSecret: "canary-7f3a9c-3", redirectUrl: "http://127.0.0.1:8765/x", identity: "shared" } } } } }`)
	s := mcp.Section.Of(s0.Config).Servers["x"]
	if v, ok := s.OAuth.ClientSecret.Literal(); !ok || v.Reveal() != "canary-7f3a9c-3" || s.Auth != "oauth" ||
		s.OAuth.Scope != "a b" || s.OAuth.ClientID != "c" || s.OAuth.RedirectURL != "http://127.0.0.1:8765/x" {
		t.Errorf("%+v", s)
	}
	if r, err := s0.Redacted(); err != nil || strings.Contains(*r.Raw+string(r.Parsed)+string(r.Config), "canary-7f3a9c") {
		t.Error("a secret is shown")
	}
}

// Other programs' names for the same.
func TestMCPNamesOfOthers(t *testing.T) {
	c := mcp.Section.Of(read(`{ mcp: { servers: {
		a: { type: "stdio", command: "x", workingDirectory: "/w", disabled: true, requestTimeoutMs: 1500,
			connectionTimeoutMs: 20000 }, b: { type: "http", url: "https://a.b/c", disabled: false },
	} } }`).Config).Servers
	if a := c["a"]; a.Enabled || a.Cwd != "/w" || a.TimeoutSeconds != 2 || a.StartSeconds != 20 || !c["b"].Enabled {
		t.Errorf("%+v", c)
	}
}

func TestMCPServing(t *testing.T) {
	if mcp.Section.Of(read(`{}`).Config).Serves {
		t.Error("it serves without being told to")
	}
	if !mcp.Section.Of(read(`{ mcp: { serve: { http: { enabled: true } } } }`).Config).Serves {
		t.Error("it does not serve")
	}
}

// Not asking is told about.
func TestMCPAskOffWarns(t *testing.T) {
	s := read(`{ mcp: { servers: { x: { command: "a", ask: "off" } } } }`)
	if !s.Valid || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Message, "without asking you") {
		t.Errorf("%+v %+v", s.Issues, s.Warnings)
	}
}

// The old way of services is off, and said to be.
func TestMCPEventStreamIsOff(t *testing.T) {
	s := read(`{ mcp: { servers: { x: { url: "https://b.c", transport: "sse" } } } }`)
	if !s.Valid || mcp.Section.Of(s.Config).Servers["x"].Enabled || len(s.Warnings) != 1 ||
		!strings.Contains(s.Warnings[0].Message, "streamable-http") {
		t.Errorf("%+v %+v", s.Issues, s.Warnings)
	}
}
