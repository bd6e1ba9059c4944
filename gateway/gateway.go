// Package gateway is the engine put together: the only place that knows all
// its rooms and wires them. It owns start-up and shutdown, the port, and the
// thin handlers between the wire's methods and the rooms that do the work. It
// holds no logic of its own beyond that.
package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/hook"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/logfile"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/mcp/login"
	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/search"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/secret/ref"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/spawn"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	sessiontool "github.com/hearth-assistant/hearth/gateway/tool/session"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

const (
	// drainTime is how long a stop waits for answers that are being written; what
	// is not whole by then is kept as it is and marked at the next start.
	drainTime = 5 * time.Second
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
}

// AtLogin has Hearth start when its person logs in.
type AtLogin interface {
	On() bool
	Set(on bool) error
}

// Gateway is a running engine.
type Gateway struct {
	opts    Options
	bootID  string
	started time.Time
	life    context.Context // for what outlives the call that began it
	endLife context.CancelFunc
	errands sync.WaitGroup // of what goes on in that life
	closing atomic.Bool
	restart chan struct{} // something will start us again

	// What everything stands on.
	log      *slog.Logger
	logs     *logfile.File
	level    slog.LevelVar // of the log file
	redactor redact.Redactor
	config   *config.File
	store    *store.DB
	server   *server.Server
	ln       net.Listener
	pairing  *pairing.Registry
	clients  *pairing.Clients   // other programs
	hook     *hook.Handler      // what they ask
	hardness []protocol.Problem // what was found about the state folder at the start

	// Keys.
	keeper *keeper.Keeper
	keys   secret.Store  // where keys are kept: keeper, and what comes out of it is hidden in logs
	refs   *ref.Resolver // finds what settings refer to
	sought chan struct{} // closed when the secrets of the settings were looked for once
	pasted sync.Map      // ids of runs whose message holds what looks like a key

	// Models, the accounts at their services, and what they cost.
	models   *provider.Registry
	redetect chan struct{} // wakes detectModels
	tests    modelTests
	pulls    modelPulls
	setup    *setup.Book // the first steps
	trying   *setup.Flow
	book     *profile.Book // of accounts at model services
	failover *failover.Engine
	logins   *oauth.Client
	flows    *oauth.Flows
	spend    *spend.Ledger
	prices   spend.Table
	poor     atomic.Bool  // the allowance is used up, as far as was looked
	unpaid   atomic.Int64 // messages that wait for the allowance

	// Conversations, and who takes part in them.
	session    *session.Manager
	spawns     *spawn.Book // of sub-agents
	agents     atomic.Pointer[madeBook]
	files      *workspace.Keeper // those that tell an agent who it is
	seeded     seeded
	beats      chan struct{} // wakes runHeartbeats
	docs       string        // folder with the manual on this computer, "" = none
	search     *search.Index
	memory     *memory.Index
	vectorHTTP func() *http.Client // to models of vectors
	skills     *skill.Library
	outbox     *outbound.Outbox
	deliverer  *outbound.Deliverer
	channels   *channels
	live       *live
	network    *network // where other machines come in
	nodes      *node.Registry
	gate       *inbound.Gate
	contacts   *contact.Book

	// Tools, and what stands before them.
	tools         *tool.Set
	policies      atomic.Pointer[madePolicy]
	approvals     *approval.Broker
	pause         *pause.Switch
	audit         *audit.Log
	undo          *undo.Log
	processes     *process.Keeper
	confined      sandbox.Report // what the sandbox of commands can do here
	path          string         // where commands are looked for
	mcp           *mcp.Hub
	machine       *engine.Engine // runs programs of code mode
	programs      *codemode.Runs
	machineLoaded atomic.Bool // or it is being loaded
	mcpLogins     *login.Book
	web           atomic.Pointer[egress.Client] // for addresses that models choose
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
	g := &Gateway{opts: opts, started: opts.Now(), bootID: newUUID(), redetect: make(chan struct{}, 1), sought: make(chan struct{}), beats: make(chan struct{}, 1), restart: make(chan struct{}, 1)}
	if program, err := os.Executable(); err == nil {
		g.docs = docsNear(program)
	}
	g.life, g.endLife = context.WithCancel(context.WithoutCancel(ctx))
	if err := g.open(ctx); err != nil {
		g.release(ctx)
		return nil, err
	}
	return g, nil
}

// open brings the rooms up in order. The store comes first: its lock keeps a
// second gateway from everything else.
func (g *Gateway) open(ctx context.Context) error {
	if err := g.opts.Dir.Ensure(); err != nil {
		return &StartError{What: "Hearth cannot use its folder", Err: err, Fix: "Give it a folder that you may write, with HEARTH_HOME"}
	}
	if err := g.checkFolder(); err != nil {
		return err
	}
	if err := g.openStore(); err != nil {
		return err
	}
	if err := g.openLog(); err != nil {
		return err
	}
	if err := g.openConfig(); err != nil {
		return err
	}
	if err := g.openAudit(ctx); err != nil {
		return err
	}
	if err := g.openPairing(ctx); err != nil {
		return err
	}
	if err := g.openClients(ctx); err != nil {
		return err
	}
	if err := g.openNodes(ctx); err != nil {
		return err
	}
	if err := g.openAccounts(ctx); err != nil {
		return err
	}
	g.openModels()
	g.openFailover()
	if err := g.openTests(); err != nil {
		return err
	}
	g.openSpend()
	if err := g.openChannels(ctx); err != nil {
		return err
	}
	g.openDelivery()
	if err := g.openSessions(ctx); err != nil {
		return err
	}
	if err := g.listen(ctx); err != nil {
		return err
	}
	rep, err := g.session.Recover(ctx)
	if err != nil {
		return &StartError{What: "The messages of the last run could not be taken up", Err: err, Fix: "Nothing was lost. Keep a copy of " + g.opts.Dir.Store() + " and report this"}
	}
	if rep != (session.Recovery{}) {
		g.log.Info("took up what was left of the last run", "requeued", rep.Requeued, "interrupted", rep.Interrupted, "failed", rep.Failed)
	}
	return nil
}

func (g *Gateway) openLog() (err error) {
	g.logs, err = logfile.Open(g.opts.Dir.Log(), logfile.Options{Level: &g.level, Redact: g.redactor.Text, Now: g.opts.Now})
	if err != nil {
		return &StartError{What: "The log file cannot be written", Err: err, Fix: "Check the folder's permissions and free space"}
	}
	g.log = slog.New(slog.NewMultiHandler(g.logs.Handler(), redacting{g.opts.Logger.Handler(), &g.redactor}))
	return nil
}

func (g *Gateway) openStore() error {
	db, err := store.Open(g.opts.Dir.Store(), store.Options{})
	switch {
	case errors.Is(err, store.ErrLocked):
		owner := ""
		if r, rerr := g.opts.Dir.ReadRuntime(); rerr == nil {
			owner = fmt.Sprintf(" (process %d at %s)", r.PID, r.URL)
		}
		return &StartError{What: "Hearth is already running on " + string(g.opts.Dir) + owner, Err: err, Fix: "Use it with `hearth open`, stop it first, or give this one another HEARTH_HOME"}
	case err != nil:
		return &StartError{What: "Hearth's store cannot be opened", Err: err, Fix: "Nothing was changed. Restore " + g.opts.Dir.Store() + " from a backup, or move it away to start empty"}
	}
	g.store = db
	// Whoever wrote it is dead, and its number and port may be somebody else's.
	g.opts.Dir.ForgetRuntime()
	return nil
}

func (g *Gateway) openConfig() error {
	path := g.opts.ConfigPath
	if path == "" {
		path = g.opts.Dir.Config(g.opts.Env)
	}
	f, err := config.Open(path, config.Options{
		Logger: g.log, Now: g.opts.Now, OnChange: g.configChanged,
		Env: func(name string) (string, bool) { v := g.opts.Env(name); return v, v != "" },
	})
	if err != nil {
		return &StartError{What: "The settings cannot be used", Err: err, Fix: "Mend the file as said, then start again"}
	}
	g.config = f
	g.openSecrets()
	g.level.Set(f.Snapshot().Config.Logging.SlogLevel())
	f.Subscribe(nil, g.applyConfig)
	return nil
}

func (g *Gateway) openPairing(ctx context.Context) error {
	g.findToken(ctx)
	token, err := g.sharedToken()
	if err != nil {
		return &StartError{What: "The gateway's access token cannot be used", Err: err, Fix: "Remove the file to get a new one"}
	}
	g.knowSecrets(g.config.Snapshot().Config, token)
	key, err := secretFile(g.opts.Dir.DeviceKey(), 32)
	if err != nil {
		return &StartError{What: "The key of paired devices cannot be used", Err: err, Fix: "Remove the file; paired browsers then need a new link from `hearth open`"}
	}
	raw, err := hex.DecodeString(key)
	if err != nil {
		return &StartError{What: "The key of paired devices is damaged", Err: err, Fix: "Remove " + g.opts.Dir.DeviceKey() + "; paired browsers then need a new link from `hearth open`"}
	}
	g.pairing, err = pairing.New(ctx, pairing.Options{
		SharedToken: token, ServerKey: raw, Store: store.NewShelf(g.store, "devices", func(d pairing.Device) string { return d.ID }), Now: g.opts.Now, Logger: g.log, OnPair: g.pairChanged,
	})
	if err != nil {
		return &StartError{What: "The paired devices could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	return nil
}

func (g *Gateway) openModels() {
	g.models = provider.New(provider.Options{
		Settings: g.providerSettings(g.config.Snapshot().Config), Env: g.opts.Env, Logger: g.log, Now: g.opts.Now, Accounts: modelAccounts{g},
		Guide: guide.Options{DataDir: string(g.opts.Dir), ConfigPath: g.config.Path()},
	})
}

func (g *Gateway) openSessions(ctx context.Context) error {
	err := g.openTools()
	if err != nil {
		return err
	}
	g.openHook()
	g.network = g.newNetwork()
	g.server, err = server.New(server.Options{
		Handlers: g.guarded(g.methods()), Auth: audited{g}, Pages: g.opts.Pages, Snapshot: g.snapshot, Version: g.opts.Version,
		BootID: g.bootID, Logger: g.log, Now: g.opts.Now, Ready: g.ready, HTTP: g.channels.webhooks(),
		Remote: g.network.remote(), Front: g.network.front, Joined: g.clientJoined, Left: g.clientLeft,
		Mounts:  g.mounts(),
		Origins: func() []string { return g.config.Snapshot().Config.Gateway.ControlUI.AllowedOrigins },
	})
	if err != nil {
		return err
	}
	if err := g.openGuard(ctx); err != nil {
		return err
	}
	g.openSpawns()
	pub := publisher{s: g.server, touched: g.touched}
	g.outbox = outbound.New(g.store, pub.terminal, g.log)
	g.session = session.NewManager(ctx, session.Options{
		DB: g.store, Publish: pub, Outbox: ends{g}, Follow: followers{g}, Rounds: g.roundsOf, Logger: g.log, Begin: g.begin, Spend: g.bookCalls, Tell: g.tellRoute, Explain: g.explain, Redact: g.redactor.Text, Tools: g.runTools,
		Prompt: g.runPrompt,
		Notes:  g.notes, Picture: g.picture,
		Hold:  g.hold,
		Held:  func() bool { return g.poor.Load() || g.setup.Held() || g.pause.Check(pause.CallModel) != nil },
		Queue: g.queuePolicy, Stopped: g.stopChildren,
		Over: g.programs.Over, Suspended: g.programs.Suspended,
		Left: func(key string) { g.processes.StopOwner(key) },
		Timeout: func() time.Duration {
			return time.Duration(g.config.Snapshot().Config.Agents.Defaults.TimeoutSeconds) * time.Second
		},
		Now: g.opts.Now, NewID: newUUID, Epoch: g.bootID, MaxRuns: g.config.Snapshot().Config.Agents.Defaults.MaxConcurrent,
	})
	g.search = search.New(search.Options{DB: g.store, Source: g.session.Searchable(), Logger: g.log})
	return g.openSetup(ctx)
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

// Serve answers until ctx ends, then stops in order: no new messages, running
// answers kept, clients told, store closed.
func (g *Gateway) Serve(ctx context.Context) error {
	runtime := statedir.Runtime{URL: g.URL(), PID: os.Getpid(), Version: g.opts.Version, StartedAt: g.started.UnixMilli()}
	if err := g.opts.Dir.WriteRuntime(runtime); err != nil {
		g.release(ctx)
		return err
	}
	defer g.opts.Dir.RemoveRuntime(os.Getpid())
	g.log.Info("gateway is ready", "url", g.URL(), "version", g.opts.Version, "pid", os.Getpid(), "startMs", g.opts.Now().Sub(g.started).Milliseconds())

	back, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var work sync.WaitGroup
	work.Go(func() { g.outbox.Run(back) })
	work.Go(func() { g.deliverer.Run(back) })
	work.Go(func() { g.spawns.Run(back) })
	work.Go(func() {
		if err := g.gate.Run(back); err != nil {
			g.log.Error("messages from channels are not taken any more", "err", err)
		}
	})
	work.Go(func() { g.channels.run(back) })
	work.Go(func() { g.tidy(back) })
	work.Go(func() { g.watchHealth(back) })
	work.Go(func() { g.stayLean(back) })
	work.Go(func() { g.search.Run(back) })
	work.Go(func() { g.tidyPrograms(back) })
	work.Go(func() { g.memory.Run(back, session.DefaultAgent) })
	work.Go(func() { g.watchSkills(back) })
	work.Go(func() { g.findSecrets(back) })
	work.Go(func() { g.runHeartbeats(back) })
	work.Go(func() { g.mcp.Run(back) })
	work.Go(func() { g.network.run(back) })
	work.Go(func() { g.detectModels(back) })
	work.Go(func() {
		if err := g.config.Watch(back); err != nil {
			g.log.Warn("hand edits of the settings are not followed", "err", err)
		}
	})

	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	served := make(chan error, 1)
	work.Go(func() { served <- g.server.Serve(serving, g.ln) })

	var err error
	select {
	case <-ctx.Done():
	case <-g.restart:
		g.log.Info("a restart was asked for and allowed")
	case err = <-served:
	}
	g.log.Info("gateway is stopping")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if cerr := g.session.Close(drain); cerr != nil {
		g.log.Warn("some answers did not stop in time", "err", cerr)
	}
	stopServing()
	g.hook.Close()
	stop()
	work.Wait()
	g.release(ctx)
	return err
}

// release gives back what New opened.
func (g *Gateway) release(ctx context.Context) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if g.ln != nil {
		_ = g.ln.Close()
	}
	g.closing.Store(true)
	if g.processes != nil {
		if err := g.processes.Close(closing); err != nil {
			g.log.Error("some commands did not end", "err", err)
		}
	}
	if g.skills != nil && g.config != nil {
		g.skills.Close(g.skillWorkspaces())
	}
	if g.approvals != nil {
		g.approvals.Close()
	}
	g.endLife()
	g.errands.Wait()
	if g.pause != nil {
		g.pause.Close()
	}
	if g.audit != nil {
		if err := g.audit.Close(closing); err != nil && g.log != nil {
			g.log.Error("the audit log did not close", "err", err)
		}
	}
	if g.programs != nil {
		g.programs.Close()
		if err := g.machine.Close(closing); err != nil {
			g.log.Error("the engine of code mode did not close", "err", err)
		}
	}
	if g.store != nil {
		if err := g.store.Close(closing); err != nil && g.log != nil {
			g.log.Error("the store did not close", "err", err)
		}
	}
	if g.logs != nil {
		_ = g.logs.Close()
	}
}

// detectModels looks for model servers at the start and whenever the settings
// of models have changed.
func (g *Gateway) detectModels(ctx context.Context) {
	for first := true; ; first = false {
		g.models.Detect(ctx)
		g.lookedForModels(ctx, first)
		select {
		case <-g.redetect:
		case <-ctx.Done():
			return
		}
	}
}

func (g *Gateway) sessionFacts(_ context.Context, key string) (sessiontool.Facts, error) {
	row, ok, err := g.session.Get(key)
	if err != nil || !ok {
		return sessiontool.Facts{}, err
	}
	return sessiontool.Facts{
		Messages: row.MessageCount, CreatedAt: time.UnixMilli(row.CreatedAt),
		Usage: model.Usage{Input: row.InputTokens, Output: row.OutputTokens},
	}, nil
}

// ready is what /readyz tells.
func (g *Gateway) ready() (bool, []string) {
	if err := g.store.Problem(); err != nil {
		return false, []string{"store"}
	}
	return true, nil
}

// newUUID returns a random (version 4) UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
