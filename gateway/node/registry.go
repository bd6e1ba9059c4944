package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hearth-assistant/hearth/gateway/node/policy"
)

// About is what a node says of itself.
type About struct {
	ClientID        string `json:"clientId"`
	ClientMode      string `json:"clientMode"`
	DisplayName     string `json:"displayName,omitempty"`
	Platform        string `json:"platform"`
	Version         string `json:"version"`
	DeviceFamily    string `json:"deviceFamily,omitempty"`
	ModelIdentifier string `json:"modelIdentifier,omitempty"`
}

// Row is what is kept of a node.
type Row struct {
	ID    string `json:"id"`
	About About  `json:"about"`
	Name  string `json:"name,omitempty"` // given by a person
	// Approved is what a person let it do, Rejected what they did not.
	Approved       Surface         `json:"approved"`
	Rejected       *Surface        `json:"rejected,omitempty"`
	CreatedAtMs    int64           `json:"createdAtMs"`
	ApprovedAtMs   int64           `json:"approvedAtMs,omitempty"`
	Kind           policy.Class    `json:"kind,omitempty"` // of the device that was approved
	ConnectedAtMs  int64           `json:"connectedAtMs,omitempty"`
	LeftAtMs       int64           `json:"leftAtMs,omitempty"`
	LastSeenAtMs   int64           `json:"lastSeenAtMs,omitempty"`
	LastSeenReason string          `json:"lastSeenReason,omitempty"`
	Stats          json.RawMessage `json:"stats,omitempty"`
}

// DisplayName is what people call it.
func (r Row) DisplayName() string {
	return cmp.Or(r.Name, r.About.DisplayName, r.About.ClientID)
}

// Class is the kind of device: of one that was approved, what it was then. What
// it says of itself later opens nothing.
func (r Row) Class() policy.Class { return cmp.Or(r.Kind, r.said()) }

// said is the kind that the device says it is.
func (r Row) said() policy.Class { return policy.ClassOf(r.About.Platform, r.About.DeviceFamily) }

// Request asks a person to let a node do what it declares.
type Request struct {
	ID       string
	NodeID   string
	Declared Surface
	New      []string // commands beyond what was approved
	Silent   bool     // it comes from this machine
	At       time.Time
}

// Conn is the live connection of a node.
type Conn interface {
	Send(event string, payload any) bool
	Close(reason string)
	Gone() <-chan struct{}
	Revoked() <-chan struct{}
}

// Store keeps rows. Save returns when the row is durable.
type Store interface {
	Load(ctx context.Context) ([]Row, error)
	Save(ctx context.Context, r Row) error
	Forget(ctx context.Context, id string) error
}

// Change is news about a node.
type Change struct {
	Kind      Kind
	Row       Row
	Connected bool
	Request   Request // of requested, approved and rejected
	By        string
	Detail    string // of alarming ones
	Conn      Conn   // of approved and rejected: the node itself, or nil
}

// Kind of a change.
type Kind string

// The kinds of changes.
const (
	Connected    Kind = "connect"
	Disconnected Kind = "disconnect"
	Requested    Kind = "requested"
	Approved     Kind = "approved"
	Rejected     Kind = "rejected"
	Renamed      Kind = "renamed"
	Removed      Kind = "removed"
	Alive        Kind = "alive"
	Stats        Kind = "stats"
	Alarm        Kind = "alarm" // something that a sound node does not do
)

// Options of a Registry.
type Options struct {
	Store  Store
	Policy func() policy.Settings
	// Changed tells of news; it must not block and not call the registry.
	Changed func(Change)
	NewID   func() string
	Now     func() time.Time
	Logger  *slog.Logger
}

// Registry is safe for concurrent use.
type Registry struct {
	Options

	mu       sync.Mutex
	rows     map[string]*Row
	live     map[string]*session // by node
	requests map[string]*Request // by node: one each
	asked    map[string]*call    // by idempotency key
	askedAt  []*call             // oldest first
	sleeping map[string]*sleeper // by node
}

// session is a node's connection.
type session struct {
	id       string
	row      *Row
	conn     Conn
	peer     netip.Addr
	declared Surface
	since    time.Time
	calls    map[string]*call // by id
	over     bool
	gone     chan struct{} // closed when it is over

	events *rate.Limiter
	bytes  *rate.Limiter
	alarms *rate.Limiter
}

const (
	eventsPerSecond = 100
	eventBurst      = 1000
	bytesPerSecond  = 4 << 20
	byteBurst       = 64 << 20
)

// Open loads what is kept.
func Open(ctx context.Context, o Options) (*Registry, error) {
	r := &Registry{
		Options: o, rows: map[string]*Row{}, live: map[string]*session{}, requests: map[string]*Request{}, asked: map[string]*call{},
		sleeping: map[string]*sleeper{},
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	if r.Changed == nil {
		r.Changed = func(Change) {}
	}
	rows, err := o.Store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load nodes: %w", err)
	}
	for i := range rows {
		r.rows[rows[i].ID] = &rows[i]
	}
	return r, nil
}

// Hello is a node that connected.
type Hello struct {
	ID      string
	About   About
	Surface Surface
	Conn    Conn
	Peer    netip.Addr
	Local   bool
	// Trusted: a person has just let it in with a code for their own device.
	Trusted bool
}

// Join takes a node's connection up. An older one of the same node is closed:
// one key is one device.
func (r *Registry) Join(ctx context.Context, h Hello) error {
	now := r.Now()
	s := &session{
		id: h.ID, conn: h.Conn, peer: h.Peer, declared: h.Surface.clean(), since: now, calls: map[string]*call{}, gone: make(chan struct{}),
		events: rate.NewLimiter(eventsPerSecond, eventBurst), bytes: rate.NewLimiter(bytesPerSecond, byteBurst), alarms: rate.NewLimiter(1, 5),
	}
	r.mu.Lock()
	row := r.rows[h.ID]
	save := row == nil
	if save {
		row = &Row{ID: h.ID, CreatedAtMs: now.UnixMilli()}
		r.rows[h.ID] = row
	}
	if row.ApprovedAtMs != 0 && row.Kind == "" { // a row of before that was kept
		row.Kind, save = row.said(), true
	}
	row.About, row.ConnectedAtMs, row.LastSeenAtMs, row.LastSeenReason = h.About, now.UnixMilli(), now.UnixMilli(), string(Connected)
	s.row = row
	old := r.live[h.ID]
	var news []Change
	if old != nil {
		if old.alive() && old.peer != h.Peer {
			news = append(news, Change{Kind: Alarm, Row: *row, Connected: true,
				Detail: fmt.Sprintf("the same device connected from %s while it was connected from %s; if it is not one device that moved, its key "+
					"was copied: remove it", h.Peer, old.peer)})
		}
		r.endSession(old)
	}
	r.live[h.ID] = s
	if h.Trusted && row.ApprovedAtMs == 0 {
		row.Approved, row.ApprovedAtMs, row.Kind, save = s.declared.harmless(), now.UnixMilli(), row.said(), true
	}
	if row.Class() != row.said() {
		news = append(news, Change{Kind: Alarm, Row: *row, Connected: true,
			Detail: fmt.Sprintf("it was approved as a device of the kind %s and now says that it is %s; it may do what it could before and no "+
				"more, until you approve it anew", row.Class(), row.said())})
	}
	news = append(news, Change{Kind: Connected, Row: *row, Connected: true})
	if q := r.want(s, h.Local); q != nil {
		news = append(news, Change{Kind: Requested, Row: *row, Connected: true, Request: *q})
	}
	kept := *row
	r.mu.Unlock()
	if old != nil {
		old.conn.Close("replaced by a newer connection of this device")
	}
	r.tell(news)
	if save {
		if err := r.Store.Save(ctx, kept); err != nil {
			return fmt.Errorf("save node %s: %w", h.ID, err)
		}
	}
	return nil
}

// want makes or refreshes the request of a node that declares more than was
// approved; nil: there is nothing new to ask. mu is held.
func (r *Registry) want(s *session, local bool) *Request {
	commands, caps := s.declared.beyond(s.row.Approved)
	if len(commands)+len(caps) == 0 && s.row.ApprovedAtMs != 0 && s.row.Class() == s.row.said() {
		delete(r.requests, s.id)
		return nil
	}
	if s.row.Rejected != nil && s.row.Rejected.equal(s.declared) {
		return nil
	}
	if q := r.requests[s.id]; q != nil && q.Declared.equal(s.declared) {
		return nil
	}
	q := &Request{ID: r.NewID(), NodeID: s.id, Declared: s.declared, New: commands, Silent: local, At: r.Now()}
	r.requests[s.id] = q
	return q
}

// Leave forgets a connection.
func (r *Registry) Leave(ctx context.Context, id string, conn Conn) {
	now := r.Now().UnixMilli()
	r.mu.Lock()
	s := r.live[id]
	if s == nil || s.conn != conn {
		r.mu.Unlock()
		return // an older one
	}
	r.endSession(s)
	delete(r.live, id)
	row := s.row
	row.LeftAtMs, row.LastSeenAtMs = now, now
	kept, known := *row, r.rows[id] == row
	r.mu.Unlock()
	if !known {
		return
	}
	if err := r.Store.Save(ctx, kept); err != nil {
		r.Logger.Warn("when a node was last seen could not be saved", "node", id, "err", err)
	}
	r.tell([]Change{{Kind: Disconnected, Row: kept}})
}

// endSession ends what waits on a connection; mu is held.
func (r *Registry) endSession(s *session) {
	if !s.over {
		s.over = true
		close(s.gone)
	}
}

// alive reports whether a session can still be called.
func (s *session) alive() bool {
	for _, c := range []<-chan struct{}{s.gone, s.conn.Gone(), s.conn.Revoked()} {
		select {
		case <-c:
			return false
		default:
		}
	}
	return true
}

func (r *Registry) tell(news []Change) {
	for _, c := range news {
		r.Changed(c)
	}
}

// Info is a node as it stands now.
type Info struct {
	Row       Row
	Connected bool
	Peer      netip.Addr
	Declared  Surface  // when it is connected
	Caps      []string // approved and declared
	Commands  []string // that may be called now
	Refused   map[string]string
	Request   *Request
}

// List returns all nodes, by name.
func (r *Registry) List() []Info {
	rules := r.Policy()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Info, 0, len(r.rows))
	for _, id := range slices.Sorted(maps.Keys(r.rows)) {
		out = append(out, r.info(id, rules))
	}
	slices.SortStableFunc(out, func(a, b Info) int { return cmp.Compare(a.Row.DisplayName(), b.Row.DisplayName()) })
	return out
}

// Empty reports whether no node was approved for anything.
func (r *Registry) Empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range r.rows {
		if row.ApprovedAtMs != 0 {
			return false
		}
	}
	return true
}

// Get returns one node by its id.
func (r *Registry) Get(id string) (Info, bool) {
	rules := r.Policy()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows[id] == nil {
		return Info{}, false
	}
	return r.info(id, rules), true
}

// info looks at one node; mu is held.
func (r *Registry) info(id string, rules policy.Settings) Info {
	row := r.rows[id]
	i := Info{Row: *row, Caps: row.Approved.Caps, Refused: map[string]string{}}
	offered := row.Approved.Commands
	if s := r.live[id]; s != nil && s.alive() {
		i.Connected, i.Peer, i.Declared, offered = true, s.peer, s.declared, s.declared.Commands
		i.Caps = slices.DeleteFunc(slices.Clone(s.declared.Caps), func(c string) bool { return !slices.Contains(row.Approved.Caps, c) })
	}
	i.Commands = []string{}
	for _, name := range offered {
		if why := refusal(*row, name, rules); why != "" {
			i.Refused[name] = why
		} else {
			i.Commands = append(i.Commands, name)
		}
	}
	if q := r.requests[id]; q != nil {
		c := *q
		i.Request = &c
	}
	return i
}

// unoffered says that a command may be called and that the node, as it is now, has none
// such, or ""; mu is held.
func unoffered(row Row, s *session, command string, rules policy.Settings) string {
	if slices.Contains(s.declared.Commands, command) || slices.Contains(row.Approved.Commands, command) ||
		!rules.Decide(row.Class(), command).Allowed {
		return ""
	}
	how := "docs/nodes.md says how it is allowed on its machine"
	if strings.HasPrefix(command, "screen.") {
		how = "allow it on its machine: `hearth node allow screen`"
	}
	return fmt.Sprintf("this node does not offer %q; %s", command, how)
}

// refusal says why a command of a node may not be called, or "".
func refusal(row Row, command string, rules policy.Settings) string {
	if d := rules.Decide(row.Class(), command); !d.Allowed {
		return d.Why
	}
	if !slices.Contains(row.Approved.Commands, command) {
		return fmt.Sprintf("%q of this node is not approved yet; `hearth nodes` shows what it asks for", command)
	}
	return ""
}
