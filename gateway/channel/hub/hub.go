// Package hub holds the accounts on messaging networks that are connected: it
// makes their channels of the settings, runs them, and says how they are. It does
// not know any network by name (channel.Kind describes them), nor who may write
// (inbound) or what is said there (outbound).
package hub

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Secrets finds what settings refer to.
type Secrets interface {
	// Value looks for the secret of a setting; field names it in an error.
	Value(ctx context.Context, field string, s secret.Setting) (secret.Secret, error)
	// Known is the secret when nothing has to be looked for.
	Known(s secret.Setting) (secret.Secret, bool)
}

// Options of a Hub.
type Options struct {
	Kinds    channel.Kinds
	Settings *config.File
	Secrets  Secrets
	Store    *store.DB // of what channels keep
	Asleep   bool      // this Hearth was moved away, so nothing is connected
	Now      func() time.Time
	Logger   *slog.Logger
}

// Hub is the connected accounts. Settings of accounts are taken when it opens, and
// while it runs. Its methods may be called from several goroutines, Open and Run
// once; before Open there are no accounts.
type Hub struct {
	Options
	openFile func(path string) (fs.File, error)
	launch   channel.Launch
	runs     atomic.Bool // Run is at work
	tools    groupTools

	mu     sync.Mutex
	opened bool
	list   map[name]*attached
	later  []name         // connected when their secrets were found; fixed by Open
	missed map[name]error // what could not be made of an account
}

// name is an account of a network.
type name struct{ network, account string }

func (a name) compare(b name) int {
	return cmp.Or(strings.Compare(a.network, b.network), strings.Compare(a.account, b.account))
}

// attached is a channel and what became of it.
type attached struct {
	channel.Channel
	of   settings           // that it was made of
	stop context.CancelFunc // ends it; nil: it does not run yet
	done chan struct{}      // closed when it has ended
	err  error              // why it does not run any more
	took atomic.Int64       // when a message was accepted last, in ms; 0: none since the start
}

// New returns a hub without accounts.
func New(o Options) *Hub {
	return &Hub{Options: o, list: map[name]*attached{}, missed: map[name]error{}}
}

// Open makes the channels of the settings, without connecting them; openFile opens
// a local file that is to be sent, launch starts the program of a channel that is
// one. An account that cannot be made is a problem, and the others are used.
func (h *Hub) Open(ctx context.Context, openFile func(path string) (fs.File, error), launch channel.Launch) {
	h.openFile, h.launch = openFile, launch
	for _, n := range h.configured() {
		if h.mayWait(n) {
			h.later = append(h.later, n)
		} else {
			h.attach(ctx, n)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = true
}

// configured are the accounts of the settings that can be connected, in order.
func (h *Hub) configured() (out []name) {
	c := h.Settings.Snapshot().Config
	for _, k := range h.Kinds {
		for id, a := range Section(k).Of(c).InUse() {
			if a.connects(k) {
				out = append(out, name{k.ID, id})
			}
		}
	}
	slices.SortFunc(out, name.compare)
	return out
}

// mayWait reports whether an account is connected when its credential was found: a
// keychain may take its time, and the start does not wait. One that is called by
// its network is made at once, so that the port knows its address.
func (h *Hub) mayWait(n name) bool {
	k, _ := h.Kinds.Get(n.network)
	a := h.Account(n.network, n.account)
	for _, s := range k.Settings {
		if s.Form == channel.PublicAddress && a.Text(s.Key) != "" {
			return false
		}
	}
	credential := a.Secret(k.Connects)
	_, found := h.Secrets.Known(credential)
	return !found && !credential.IsZero()
}

// attach makes the channel of an account; nil when it cannot be made, which
// Problems says.
func (h *Hub) attach(ctx context.Context, n name) *attached {
	of := h.settings(n)
	ch, err := h.channel(ctx, n)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.Logger.Error("a channel is not connected", "channel", n.network, "account", n.account, "err", err)
		h.missed[n] = err
		return nil
	}
	if made := h.list[n]; made != nil { // meanwhile
		return made
	}
	delete(h.missed, n)
	at := &attached{Channel: ch, of: of, done: make(chan struct{})}
	h.list[n] = at
	return at
}

func (h *Hub) channel(ctx context.Context, n name) (channel.Channel, error) {
	k, _ := h.Kinds.Get(n.network)
	a := h.Account(n.network, n.account)
	own := channel.Account{
		ID: n.account, Secrets: make(map[string]string), Texts: a.Texts(),
		MaxFile: int64(a.MediaMaxMB) << 20, OpenFile: h.openFile, Durable: durable{h.Store, n}, Launch: h.launch, Now: h.Now,
		Logger: h.Logger,
	}
	network := Section(k).Of(h.Settings.Snapshot().Config)
	for _, key := range k.Secrets() {
		v, err := h.Secrets.Value(ctx, KeyPath(k, network, n.account, key).String(), a.Secret(key))
		if err != nil {
			return nil, err
		}
		own.Secrets[key] = v.Reveal()
	}
	return k.New(own)
}

// Find is the channel of an account, nil for none.
func (h *Hub) Find(network, account string) channel.Channel {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.list[name{network, account}]; a != nil {
		return a.Channel
	}
	return nil
}

// All lists the channels, in order.
func (h *Hub) All() (out []channel.Channel) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range slices.SortedFunc(maps.Keys(h.list), name.compare) {
		out = append(out, h.list[n].Channel)
	}
	return out
}

func (h *Hub) serve(ctx context.Context, a *attached, inbox channel.Inbox) {
	err := a.Run(ctx, func(ctx context.Context, in channel.Inbound) error {
		err := inbox(ctx, in)
		if err == nil {
			a.took.Store(h.Now().UnixMilli())
		}
		return err
	})
	if err == nil || ctx.Err() != nil {
		return
	}
	h.Logger.Error("a channel has stopped", "channel", a.ID(), "account", a.Account(), "err", err)
	h.mu.Lock()
	defer h.mu.Unlock()
	a.err = err
}

// longestCall is the most that a network may send to a webhook.
const longestCall = 1 << 20

// Webhooks answers the networks that call their accounts, by path, also those that
// the settings get later: those of programs below channel.CallsBelow.
func (h *Hub) Webhooks() map[string]http.Handler {
	return map[string]http.Handler{
		"/api/": http.MaxBytesHandler(http.HandlerFunc(h.hooked), longestCall), channel.CallsBelow: newCalls(h),
	}
}

// hooked hands a request to the account whose path it is.
func (h *Hub) hooked(w http.ResponseWriter, r *http.Request) {
	for _, ch := range h.All() {
		if called, ok := ch.(channel.Hooked); ok {
			if path, handler, ok := called.Webhook(); ok && path == r.URL.Path {
				handler.ServeHTTP(w, r)
				return
			}
		}
	}
	http.NotFound(w, r)
}

// Tell sends words of Hearth's own, without keeping them: what is lost is asked for
// again.
func (h *Hub) Tell(ctx context.Context, network string, to channel.Target, text string) {
	ch := h.Find(network, to.Account)
	if ch == nil {
		return
	}
	if _, err := ch.Send(ctx, channel.Message{To: to, Text: text}); err != nil {
		h.Logger.Warn("somebody could not be told", "channel", network, "err", err)
	}
}

// Account is the settings of one account, with those of its network below them.
func (h *Hub) Account(network, account string) Configured {
	a, _ := h.account(network, account)
	return a
}

func (h *Hub) account(network, account string) (a Configured, ok bool) {
	if k, known := h.Kinds.Get(network); known {
		a, ok = Section(k).Of(h.Settings.Snapshot().Config).Accounts()[account]
		a = a.compared(k)
	}
	return a, ok
}

// FileLimit is the largest file that an account takes or sends, in bytes.
func (h *Hub) FileLimit(network, account string) int64 {
	return int64(h.Account(network, account).MediaMaxMB) << 20
}

// FileAdvice is where that is set, and what the network itself allows.
func (h *Hub) FileAdvice(network string) string {
	k, _ := h.Kinds.Get(network)
	return strings.TrimSuffix("channels."+network+".mediaMaxMb; "+k.MaxFileWhy, "; ")
}

// Limits is how text is cut for a channel: never beyond what its network takes.
func (h *Hub) Limits(ch channel.Channel) chunk.Limits {
	a, l := h.Account(ch.ID(), ch.Account()), chunk.LimitsOf(ch.Limits())
	l.Mode = chunk.SplitMode(a.ChunkMode)
	if a.TextChunkLimit > 0 && (l.Chars == 0 || a.TextChunkLimit < l.Chars) {
		l.Chars = a.TextChunkLimit
	}
	return l
}
