// Package gateway puts the engine together: it makes the parts of the kernel,
// then the features from them (features.go is the one list), owns start-up and
// shutdown, and opens the port. What Hearth can do is in gateway/feature, what
// every feature stands on in the packages beside it; docs/architecture.md says
// what is where, and internal/meta that less and less stands here.
package gateway

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/attachment/fetch"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/problem"
	"github.com/hearth-assistant/hearth/gateway/taint"
	"github.com/hearth-assistant/hearth/gateway/toolset"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/feature/status"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/outbound/sendfile"
	"github.com/hearth-assistant/hearth/gateway/owner"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/scope"
	skillcatalog "github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
	"github.com/hearth-assistant/hearth/gateway/systemprompt"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/feature/codemode"
	"github.com/hearth-assistant/hearth/gateway/hook"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/logfile"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/place"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/catalog"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/download"
	"github.com/hearth-assistant/hearth/gateway/provider/turn"
	"github.com/hearth-assistant/hearth/gateway/provider/vectors"
	"github.com/hearth-assistant/hearth/gateway/search"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/spawn"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// Options of a Gateway.
type Options struct {
	Dir        statedir.Dir
	ConfigPath string              // "" = Dir's
	Env        func(string) string // the process environment
	Port       int                 // overrides gateway.port; 0 = as configured
	Pages      fs.FS               // the web app
	Version    string
	// Guardian is what ends in Guardian: a file, then its arguments, beginning
	// with its name. Without it no command can run.
	Guardian []string
	Logger   *slog.Logger // for people at the terminal; the log file gets everything
	Now      func() time.Time
	AtLogin  AtLogin // nil: not known here
	// Farewell is what is known, when Serve's context has ended, of why; nil:
	// nothing.
	Farewell func() Farewell
}

// Farewell is why a gateway is stopped, as far as who stops it says so.
type Farewell string

// Farewells.
const (
	FarewellNone  Farewell = ""
	FarewellQuit  Farewell = "quit"  // its person quit all of Hearth: windows close
	FarewellAgain Farewell = "again" // it is started again at once
)

// AtLogin has Hearth start when its person logs in.
type AtLogin interface {
	On() bool
	Set(on bool) error
}

// Gateway is a running engine.
type Gateway struct {
	opts      Options
	bootID    string
	started   time.Time
	work      *background.Group // what outlives the call that began it
	closing   atomic.Bool
	restart   chan struct{} // something will start us again
	damaged   chan error    // of the store, told once
	stuck     chan error    // told once, see Stuck
	comesBack atomic.Bool   // a restart was asked for

	// What everything stands on.
	log      *slog.Logger
	logs     *logfile.File
	clock    *clock.Clock
	level    slog.LevelVar // of the log file
	redactor redact.Redactor
	config   *config.File
	store    *store.DB
	server   *server.Server
	ln       net.Listener
	removed  *store.Beside // what was taken away, apart from the store
	pairing  *pairing.Registry
	clients  *pairing.Clients // other programs
	door     *admission.Door  // where they come in
	hook     *hook.Handler    // what they ask
	problems problem.Board    // what a person should know about

	// Keys.
	secrets *lookup.Secrets // those that the settings refer to

	// Models, the accounts at their services, and what they cost.
	setup     *setup.Book // the first steps
	accounts  *accounts.Accounts
	models    *provider.Registry
	detector  *provider.Detector // looks for servers of models
	choice    *choice.Chooser    // which models may be chosen, and are meant
	catalog   *catalog.Catalog   // the list of them
	budget    *budget.Budget     // keeps calls within the allowance
	turns     *turn.Models       // what answers the turns of sessions
	trials    *turn.Trials       // what was found out about models
	downloads *download.Downloads
	adding    *accounts.Adding // adds accounts

	// Conversations, and who takes part in them.
	session    *session.Manager
	spawns     *spawn.Book       // of sub-agents
	agents     *agents.Directory // who there is, and who answers
	files      *workspace.Keeper // those that tell an agent who it is
	workspaces place.Workspaces  // held from the start on
	search     *search.Index
	vectors    *vectors.Service
	skills     *skillcatalog.Catalog
	outbox     *outbound.Outbox
	deliverer  *outbound.Deliverer
	channels   *hub.Hub
	answers    *answers.Networks
	sendfiles  *sendfile.Files // that leave by networks
	gate       *inbound.Gate
	arrivals   *fetch.Files // of messages
	contacts   *contact.Book
	incidents  *incident.Log // where Hearth itself failed
	scopes     *scope.Scopes // on whose behalf runs act
	prompts    *systemprompt.Maker
	dispatch   *dispatch.Dispatcher // where messages come in
	features   *host.Host
	status     *status.Status

	// Tools, and what stands before them.
	tools     *tool.Catalog
	toolset   *toolset.Runs // what each run gets of them
	toolGate  *gate.Gate
	direct    *gate.Direct
	approvals *approval.Broker
	owner     *owner.Line
	pause     *pause.Switch
	audit     *audit.Log
	undo      *undo.Log
	execution *execution.Environment
	code      *codemode.CodeMode // nil: there is none
	taint     *taint.Tracker     // of text from outside
}

// New starts the engine up to an open port, without serving it yet. An error
// that a restart cannot mend is a *StartError.
func New(ctx context.Context, opts Options) (*Gateway, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{opts: opts, started: opts.Now(), bootID: newUUID(), restart: make(chan struct{}, 1), damaged: make(chan error, 1),
		stuck: make(chan error, 1)}
	g.work = background.New(ctx)
	if err := g.open(ctx); err != nil {
		if errors.Is(err, store.ErrDamaged) {
			err = damagedError(opts.Dir, err)
		}
		g.release(ctx)
		return nil, err
	}
	return g, nil
}

// URL is where the gateway listens.
func (g *Gateway) URL() string { return "http://" + g.ln.Addr().String() }

// LaunchLink returns a link that pairs one browser on this machine, once.
func (g *Gateway) LaunchLink(ttl time.Duration) (string, error) {
	code, _, err := g.pairing.MintLaunch(ttl)
	if err != nil {
		return "", err
	}
	return g.URL() + "/#launch=" + code, nil
}

// newUUID is uuid.New.
func newUUID() string { return uuid.New() }
