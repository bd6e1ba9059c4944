package profile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrNoCredential is what a Vault returns for a name that it does not have.
var ErrNoCredential = errors.New("there is no such credential")

// Vault keeps credentials; package gateway gives it the secret store.
type Vault interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, value string) error
	Delete(ctx context.Context, name string) error
}

// Record is what is kept about an account beside its credential.
type Record struct {
	Profile
	Stored bool     `json:"stored,omitempty"` // the vault has its credential
	Hosts  []string `json:"hosts,omitempty"`  // where its key may be sent
	Mark   string   `json:"mark,omitempty"`   // tells whether a key of the config or environment is still the same
	Stats  Stats    `json:"usageStats"`
}

// State keeps records.
type State interface {
	Load(ctx context.Context) ([]Record, error)
	Save(ctx context.Context, r Record) error  // durable when it returns
	Touch(ctx context.Context, r Record) error // may be lost in a crash
	Delete(ctx context.Context, id string) error
}

// Implicit is an account that exists because a key is configured or found.
type Implicit struct {
	Profile
	Source string
	Key    string
	// Resolve reads a key that lies elsewhere; Key is then the name of that place.
	Resolve func(ctx context.Context) (string, error)
}

// Settings are what may change while the book is in use.
type Settings struct {
	Order    map[string][]string // auth.order
	Profiles []Profile           // auth.profiles, in the file's order
	Implicit []Implicit
	// Hosts says where each provider is now, see Origin.
	Hosts     map[string]string
	Cooldowns Cooldowns
}

// Options of a Book.
type Options struct {
	Settings
	State State // nil: nothing is remembered
	Vault Vault // nil: there is no place for credentials
	// Renew asks a service for a new login. It is called once at a time for each
	// account.
	Renew func(ctx context.Context, p Profile, c Credential) (Credential, error)
	// Lock keeps other processes from renewing the same login; nil: none do.
	Lock func(ctx context.Context, id string) (unlock func(), err error)
	// Found is told every secret before anybody gets it: to hide it.
	Found  func(secrets ...string)
	Now    func() time.Time
	Logger *slog.Logger
}

// Book is safe for concurrent use. The zero value is not ready; use Open.
type Book struct {
	opts Options
	log  *slog.Logger
	now  func() time.Time

	mu       sync.Mutex // guards what follows
	settings Settings
	rows     map[string]*row
	renewing map[string]*renewal
}

// row is what the book knows about one account.
type row struct {
	Record
	source  string
	present bool   // an implicit account whose key is there
	key     string // of an implicit account
	resolve func(context.Context) (string, error)
	cred    *Credential // as read from the vault
	unsafe  bool        // cred is newer than the vault's
}

// Open reads what is remembered.
func Open(ctx context.Context, o Options) (*Book, error) {
	b := &Book{opts: o, log: o.Logger, now: o.Now, rows: map[string]*row{}, renewing: map[string]*renewal{}}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.now == nil {
		b.now = time.Now
	}
	if o.State != nil {
		all, err := o.State.Load(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the accounts of model services: %w", err)
		}
		for _, r := range all {
			b.rows[r.ID] = &row{Record: r, source: SourceStored}
		}
	}
	b.Configure(ctx, o.Settings)
	return b, nil
}

// Configure replaces the settings. A key that is seen for the first time is
// bound to where its provider is now.
func (b *Book) Configure(ctx context.Context, s Settings) {
	b.mu.Lock()
	b.settings = s
	var changed []Record
	for _, r := range b.rows {
		r.key, r.resolve, r.present = "", nil, false
	}
	for _, im := range s.Implicit {
		if b.implicit(im) {
			changed = append(changed, b.rows[im.ID].Record.clone())
		}
	}
	b.mu.Unlock()
	for _, r := range changed {
		b.touch(ctx, r)
	}
}

// implicit takes a configured or found key in and reports whether its record
// changed. A stored account of the same name goes before it.
func (b *Book) implicit(im Implicit) bool {
	r := b.rows[im.ID]
	if r != nil && r.Stored {
		return false
	}
	if r == nil {
		r = &row{}
		b.rows[im.ID] = r
	}
	r.Profile, r.source, r.key, r.resolve = im.Profile, im.Source, im.Key, im.Resolve
	r.present = im.Key != "" || im.Type == None
	mark := markOf(im.Key)
	if r.Mark == mark {
		return false
	}
	// Another key: what was said about the old one does not count any more.
	r.Mark, r.Stats, r.Hosts = mark, Stats{LastUsed: r.Stats.LastUsed}, nil
	if at := b.settings.Hosts[im.Provider]; at != "" {
		r.Hosts = []string{at}
	}
	return true
}

func (b *Book) found(c Credential) {
	if b.opts.Found != nil {
		b.opts.Found(c.Secrets()...)
	}
}

// Has reports whether a provider has an account that could be used.
func (b *Book) Has(provider string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rowsFor(provider)) > 0
}

// usable reports whether there is a credential to try.
func (r *row) usable() bool { return r.Stored || r.present }

func (r Record) clone() Record {
	r.Hosts = slices.Clone(r.Hosts)
	r.Stats = r.Stats.clone()
	return r
}

func (b *Book) touch(ctx context.Context, r Record) {
	if b.opts.State == nil {
		return
	}
	if err := b.opts.State.Touch(ctx, r); err != nil {
		b.log.Warn("what happened to an account of a model service was not remembered", "profile", r.ID, "err", err)
	}
}

func (b *Book) save(ctx context.Context, r Record) error {
	if b.opts.State == nil {
		return nil
	}
	if err := b.opts.State.Save(ctx, r); err != nil {
		return fmt.Errorf("remember the account %s: %w", r.ID, err)
	}
	return nil
}

// Add stores an account with its credential, in place of one of the same name.
// hosts are where the credential may be sent; none: where the provider is now.
func (b *Book) Add(ctx context.Context, p Profile, c Credential, hosts ...string) error {
	if provider, _, ok := SplitID(p.ID); !ok || provider != p.Provider || !p.Type.Valid() {
		return &Error{ID: p.ID, Reason: ReasonName, Message: fmt.Sprintf("%q is no name of an account. Write the provider and a name, for "+
			"example \"anthropic:work\".", p.ID)}
	}
	if err := c.check(p); err != nil {
		return err
	}
	b.found(c)
	if err := b.write(ctx, p.ID, c); err != nil {
		return err
	}
	b.mu.Lock()
	if len(hosts) == 0 && b.settings.Hosts[p.Provider] != "" {
		hosts = []string{b.settings.Hosts[p.Provider]}
	}
	r := &row{Record: Record{Profile: p, Stored: true, Hosts: slices.Compact(slices.Sorted(slices.Values(hosts)))}, source: SourceStored,
		cred: &c}
	b.rows[p.ID] = r
	rec := r.Record.clone()
	b.mu.Unlock()
	return b.save(ctx, rec)
}

// Remove forgets a stored account and its credential; ok is false when there is
// no such one.
func (b *Book) Remove(ctx context.Context, id string) (ok bool, err error) {
	b.mu.Lock()
	r := b.rows[id]
	ok = r != nil && r.Stored
	b.mu.Unlock()
	if !ok {
		return false, nil
	}
	if b.opts.Vault != nil {
		if err := b.opts.Vault.Delete(ctx, VaultName(id)); err != nil && !errors.Is(err, ErrNoCredential) {
			return false, fmt.Errorf("remove the credential of %s: %w", id, err)
		}
	}
	if b.opts.State != nil {
		if err := b.opts.State.Delete(ctx, id); err != nil {
			return false, fmt.Errorf("forget the account %s: %w", id, err)
		}
	}
	b.mu.Lock()
	delete(b.rows, id)
	s := b.settings
	b.mu.Unlock()
	b.Configure(ctx, s) // a configured key of this name counts again
	return true, nil
}

// Account is what a person may know about an account.
type Account struct {
	Profile
	Source  string
	Missing bool // it is configured, but there is no credential
	Hosts   []string
	Expires time.Time // of a login, as far as known
	Stats   Stats
}

// Accounts lists all, by provider and name.
func (b *Book) Accounts() []Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Account
	listed := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(b.rows)) {
		r := b.rows[id]
		if !r.usable() {
			continue
		}
		listed[id] = true
		a := Account{Profile: r.Profile, Source: r.source, Hosts: slices.Clone(r.Hosts), Stats: r.Stats.clone()}
		if r.cred != nil {
			a.Expires = r.cred.Expires
		}
		out = append(out, a)
	}
	for _, p := range b.settings.Profiles {
		if !listed[p.ID] {
			out = append(out, Account{Profile: p, Source: SourceConfig, Missing: true})
		}
	}
	slices.SortStableFunc(out, func(x, y Account) int { return strings.Compare(x.ID, y.ID) })
	return out
}
