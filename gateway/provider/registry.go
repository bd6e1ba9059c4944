// Package provider knows which models there are and how to reach them: the
// table of known services, the ones that configuration adds, servers found on
// this computer, keys found in the environment, and the built-in guide that
// answers when there is nothing else. It picks the default, turns a
// model.Ref into a model.Provider, and puts failures into plain words.
//
// It speaks no dialect itself (the rooms below it do, over wire),
// reads no configuration file, stores nothing, and does not retry.
package provider

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/copilot"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// Where a model comes from.
const (
	SourceConfigured  = "configured"
	SourceLocal       = "local"
	SourceEnvironment = "environment"
	SourceBuiltIn     = "built-in"
)

// ModelConfig describes one model of a service.
type ModelConfig struct {
	ID            string // as the service names it
	Name          string
	ContextWindow int // tokens, 0 = not known
	MaxTokens     int // of one answer, 0 = the service's default
	Reasoning     bool
	Input         []string // text, image; empty = text
}

// ProviderConfig is what a person configured about a service, known or new.
// Empty fields of a known service keep their values from the table.
type ProviderConfig struct {
	BaseURL string
	APIKey  string // ${NAME} is replaced from the environment
	API     string // one of the API constants, "" = the known one or APIOpenAI
	Models  []ModelConfig
	// Headers are sent with every request; ${NAME} is replaced from the
	// environment. AuthHeader sends the key as Authorization: Bearer where the
	// dialect would send it otherwise.
	Headers    map[string]string
	AuthHeader bool
	Silence    time.Duration // how long it may say nothing; 0 = as its kind may
}

// Settings are what may change while the registry is in use.
type Settings struct {
	Providers map[string]ProviderConfig
	Primary   string // the model to use when nobody chose, "" = the best found
	Fallbacks []string
	// Named are services that the settings name anywhere: who wrote one of their
	// models down has chosen them.
	Named []string
}

// Options build a Registry.
type Options struct {
	Settings
	Env      func(string) string // nil = an empty environment
	HTTP     *http.Client        // nil = one with sensible limits
	Accounts Accounts            // nil = keys of the settings and the environment, for whoever asks
	// Around reports whether the person wants to look around with the guide: then
	// nothing answers that was only found. nil = no.
	Around    func() bool
	Logger    *slog.Logger     // nil = none
	Now       func() time.Time // nil = time.Now
	Guide     guide.Options    // its Now and Hint are filled in when nil
	FirstByte time.Duration    // 0 = by kind of service
	Idle      time.Duration    // 0 = wire's
}

// Choice is a model that is ready to be asked.
type Choice struct {
	Ref           model.Ref
	Provider      model.Provider
	ContextWindow int  // tokens, 0 = not known
	Trained       int  // tokens that it was made for, where the server says so
	BuiltIn       bool // the guide: not an AI model, to be labelled as such
	Tools         bool // false: it is known not to use tools
	Images        bool // it takes pictures
	Local         bool // it runs on this computer
	Source        string
	Account       string // whose key is used; "" = none is needed

	baseURL string
	with    func(key string) model.Provider // the same with another key
}

// Registry is safe for concurrent use.
type Registry struct {
	env       func(string) string
	http      *http.Client
	accounts  Accounts
	around    func() bool
	log       *slog.Logger
	now       func() time.Time
	guide     model.Provider
	table     []service // never changed
	firstByte time.Duration
	idle      time.Duration
	copilot   *copilot.Exchange
	debug     *wire.Debug // nil: nothing is logged
	stable    wire.Stable // of all services

	detecting sync.Mutex    // held while probing
	ready     chan struct{} // closed once the first detection is done
	readyOnce sync.Once

	mu       sync.Mutex // guards what follows; values are replaced, not changed
	settings Settings
	found    map[string]finding // local servers by service id
	looked   time.Time          // when the last detection ended
	windows  map[model.Ref]int  // tokens of context that local servers really gave
	tested   map[model.Ref]Tested
}

// redetectAfter is how old a detection without a model may be before the next
// message looks again, so that a server that was started meanwhile is used.
const redetectAfter = 5 * time.Second

// New returns a registry that knows its settings, the environment and the
// guide. Local servers are known after Detect.
func New(o Options) *Registry {
	r := &Registry{env: o.Env, http: o.HTTP, accounts: o.Accounts, around: o.Around, log: o.Logger, now: o.Now, settings: o.Settings,
		table:     services(),
		firstByte: o.FirstByte, idle: o.Idle, ready: make(chan struct{}), found: map[string]finding{}, windows: map[model.Ref]int{}}
	if r.env == nil {
		r.env = func(string) string { return "" }
	}
	if r.http == nil {
		r.http = &http.Client{Transport: egress.Operator()}
	}
	if r.around == nil {
		r.around = func() bool { return false }
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.now == nil {
		r.now = time.Now
	}
	r.debug = wire.NewDebug(r.env, r.log)
	r.copilot = copilot.New(copilot.Options{HTTP: r.http, Now: r.now})
	if o.Guide.Now == nil {
		o.Guide.Now = r.now
	}
	if o.Guide.Hint == nil {
		o.Guide.Hint = r.hint
	}
	r.guide = guide.New(o.Guide)
	return r
}

// Reconfigure replaces the settings; requests that run keep their model. Call
// Detect afterwards when an address changed.
func (r *Registry) Reconfigure(s Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = s
	clear(r.windows)
}

// windowGiven remembers how many tokens of context a server really gave a model.
func (r *Registry) windowGiven(ref model.Ref, tokens int) {
	r.mu.Lock()
	before := r.windows[ref]
	r.windows[ref] = tokens
	r.mu.Unlock()
	if before != tokens {
		r.log.Info("context window of a local model", slog.String("model", ref.String()), slog.Int("tokens", tokens))
	}
}

func (r *Registry) windowOf(ref model.Ref) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.windows[ref]
}

// Ready is closed once the first detection is done.
func (r *Registry) Ready() <-chan struct{} { return r.ready }

// Resolve returns a model that is ready to be asked; the zero Ref means the
// default. It waits for the first detection if the answer depends on it, and
// looks for local servers again rather than falling back to the guide. An
// error is an *UnavailableError, or ctx's when that ended.
func (r *Registry) Resolve(ctx context.Context, ref model.Ref) (Choice, error) {
	return r.ResolveAs(ctx, ref, "")
}

// find is Resolve without a key.
func (r *Registry) find(ctx context.Context, ref model.Ref) (Choice, error) {
	if ref == guide.Ref() {
		return r.guideChoice(), nil
	}
	if c, err := r.view().resolve(ref); err == nil && !c.BuiltIn && c.Source != SourceEnvironment {
		return c, nil // no detection could make this better
	}
	select {
	case <-r.ready:
	case <-ctx.Done():
		return Choice{}, ctx.Err()
	}
	c, err := r.view().resolve(ref)
	if (err != nil || c.BuiltIn && !r.around()) && r.stale() {
		r.Detect(ctx)
		if err := ctx.Err(); err != nil {
			return Choice{}, err
		}
		c, err = r.view().resolve(ref)
	}
	return c, err
}

// Named reads a model as configuration writes it.
func (r *Registry) Named(name string) model.Ref { return r.view().primary(strings.TrimSpace(name)) }

// Address is where a service is, "" when nobody knows it.
func (r *Registry) Address(service string) string {
	x, _ := r.view().reach(service)
	return x.baseURL
}

// stale reports whether looking for local servers again makes sense.
func (r *Registry) stale() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now().Sub(r.looked) >= redetectAfter
}

// Default is the model that the zero Ref means now, and where it comes from.
func (r *Registry) Default() (model.Ref, string) { return r.view().fallback() }

// Models lists all models that a person can pick, best first, the guide last.
func (r *Registry) Models() []Entry { return r.view().entries(false) }

// Catalogue lists also the models of services that nobody set up, with what is
// missing.
func (r *Registry) Catalogue() []Entry { return r.view().entries(true) }

func (r *Registry) guideChoice() Choice {
	return Choice{Ref: guide.Ref(), Provider: r.guide, BuiltIn: true, Tools: true, ContextWindow: guide.ContextWindow, Source: SourceBuiltIn}
}

// view is what the registry knows at one moment.
func (r *Registry) view() view {
	r.mu.Lock()
	defer r.mu.Unlock()
	return view{r: r, settings: r.settings, found: r.found}
}

// row finds a known service.
func (r *Registry) row(id string) (service, bool) {
	for _, s := range r.table {
		if s.id == id {
			return s, true
		}
	}
	return service{}, false
}
