// Package mcp is the feature that speaks the Model Context Protocol both ways:
// tools of servers that the settings name, started, confined, logged in at and
// asked about; and Hearth's own tools for programs that come to /mcp with a token.
// The protocol and the connections are package gateway/mcp's.
package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/mcp/login"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Version   string
	Dir       statedir.Dir
	DB        *store.DB
	Settings  *config.File
	Secrets   *lookup.Secrets
	Redactor  *redact.Redactor
	Audit     *audit.Log
	Gate      *gate.Gate
	Execution *execution.Environment // where programs of servers run
	Programs  Programs
	Env       func(string) string
	Work      *background.Group
	Now       func() time.Time
	Logger    *slog.Logger
}

// Servers are the MCP servers of the settings, and the way in for programs.
type Servers struct {
	o      Options
	hub    *mcp.Hub
	logins *login.Book
}

// Open makes what keeps the connections; they begin with the feature's Run.
func Open(o Options) *Servers {
	f := &Servers{o: o}
	f.logins = f.openLogins()
	f.hub = mcp.New(mcp.Options{
		Version: o.Version, Log: o.Logger, Now: o.Now, Launch: f.launch, Permit: f.permit, Bearer: f.bearer,
		Pins: pins{o.DB, store.NewBucket[[]byte]("mcp.pins")},
	})
	f.configure(o.Settings.Snapshot().Config)
	o.Secrets.Subscribe(f.configure)
	return f
}

// Tools are those of all servers now.
func (f *Servers) Tools() []tool.Tool { return f.hub.Tools() }

// Feature is what the host needs to know.
func (f *Servers) Feature() host.Feature {
	return host.Feature{
		Methods: f.methods(),
		Mounts:  map[string]http.Handler{"/mcp": f.serving()},
		Run: func(ctx context.Context) error {
			f.hub.Run(ctx)
			return nil
		},
	}
}

// configure takes the servers of the settings.
func (f *Servers) configure(c config.Config) {
	var out []mcp.Server
	set := Section.Of(c).Servers
	for _, id := range slices.Sorted(maps.Keys(set)) {
		if s := set[id]; s.Enabled {
			out = append(out, f.server(id, s))
		}
	}
	f.hub.Configure(out)
}

func (f *Servers) server(id string, s ServerSettings) mcp.Server {
	home := statedir.Home(f.o.Env)
	out := mcp.Server{
		ID: id, Command: s.Command, Args: s.Args, URL: s.URL, Allow: s.Allow, Deny: s.Deny, Ask: mcp.Ask(s.Ask),
		Timeout: time.Duration(s.TimeoutSeconds) * time.Second, Start: time.Duration(s.StartSeconds) * time.Second,
		Read: statedir.Expand(home, s.Sandbox.Read), Write: statedir.Expand(home, s.Sandbox.Write), Open: s.Sandbox.Backend == "off",
		Offline: !s.Sandbox.Network,
	}
	if s.Cwd != "" {
		out.Dir = statedir.Expand(home, []string{s.Cwd})[0]
	}
	if out.Command = statedir.Expand(home, []string{s.Command})[0]; s.Command == "" || !strings.HasPrefix(s.Command, "~/") {
		out.Command = s.Command
	}
	out.Confined = s.URL == "" && f.o.Execution.Sandbox.Confined && !out.Open
	known := func(what string, v secret.Setting) string {
		found, ok := f.o.Secrets.Known(v)
		if !ok && !v.IsZero() {
			out.Missing = fmt.Sprintf("the secret for mcp.servers.%s.%s was not found yet; `hearth secrets` shows what there is", id, what)
		}
		return found.Reveal()
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		out.Env = append(out.Env, name+"="+known("env."+name, s.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
		out.Headers[name] = known("headers."+name, s.Headers[name])
	}
	out.OAuth = s.URL != "" && takesLogin(s, out.Headers)
	return out
}
