package contact

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	codeLength   = 8
	codeLetters  = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789" // 32, none that look alike
	maxGuesses   = 5                                  // wrong codes per channel, then its requests are void
	guessWindow  = 10 * time.Minute
	rejectedFor  = 24 * time.Hour
	longestField = 128
)

// Bounds of requests.
const (
	CodeLife   = time.Hour // and that of the request
	MaxPending = 3         // per channel and account
)

// Errors of Approve and Reject.
var (
	ErrNoCode = errors.New("no request with this code is waiting; it may have expired (codes live one hour). Ask the person to write " +
		"again and take the new code")
	ErrNobody    = errors.New("an empty id is nobody")
	ErrThrottled = errors.New("too many wrong codes for this channel: its requests were dropped. Ask the person to write again in ten minutes")
)

// Person is a sender as their network knows them.
type Person struct {
	Channel string `json:"channel"`
	Account string `json:"account"`
	ID      string `json:"id"`
	Shown   string `json:"shown,omitempty"`  // ID as the network writes it, for people; "" is ID
	Name    string `json:"name,omitempty"`   // only for display
	Handle  string `json:"handle,omitempty"` // only for display
}

// Reads is the id as a person reads it.
func (p Person) Reads() string { return cmp.Or(p.Shown, p.ID) }

// Request is a stranger who waits to be let in. It does not change while it
// waits: what was shown is what is approved.
type Request struct {
	Person
	Code      string `json:"code"`
	AskedAt   int64  `json:"askedAt"`
	ExpiresAt int64  `json:"expiresAt"`
	// Conversation is where they wrote, and can be told.
	Conversation string `json:"conversation,omitempty"`
}

// Contact is a person who was let in.
type Contact struct {
	Person
	Owner      bool  `json:"owner,omitempty"`  // may use the owner's commands
	Shared     bool  `json:"shared,omitempty"` // reads and writes in the owner's conversation; else in one of their own
	ApprovedAt int64 `json:"approvedAt"`
}

// guard counts wrong codes of a channel.
type guard struct {
	Wrong int   `json:"wrong"`
	Since int64 `json:"since"`
}

// Book is the store of contacts and requests.
type Book struct {
	db   *store.DB
	now  func() time.Time
	rand io.Reader

	contacts store.Bucket[Contact] // channel, account, id
	requests store.Bucket[Request] // channel, account, id
	rejected store.Bucket[int64]   // channel, account, id → until
	guards   store.Bucket[guard]   // channel
	removed  Removed               // nil: none
}

// New returns a book. random makes the codes: crypto/rand.Reader.
func New(db *store.DB, now func() time.Time, random io.Reader) *Book {
	return &Book{
		db: db, now: now, rand: random,
		contacts: store.NewBucket[Contact]("inbound.contacts"),
		requests: store.NewBucket[Request]("inbound.requests"),
		rejected: store.NewBucket[int64]("inbound.rejected"),
		guards:   store.NewBucket[guard]("inbound.guesses"),
	}
}

// key joins parts so that no two lists of parts give the same bytes.
func key(parts ...string) []byte {
	var b []byte
	for _, p := range parts {
		b = fmt.Appendf(b, "%d:%s/", len(p), p)
	}
	return b
}

// Lookup finds a contact. An empty id is nobody.
func (b *Book) Lookup(channel, account, id string) (c Contact, ok bool, err error) {
	if id == "" {
		return c, false, nil
	}
	err = b.db.View(func(tx *store.Tx) error {
		c, ok, err = b.contacts.Get(tx, key(channel, account, id))
		return err
	})
	return c, ok, err
}

// Ask notes that a stranger wants in. fresh says that this made a new request,
// which is the only time they are sent its code. ok is false when nothing was
// noted: too many wait already, or the person was rejected a short while ago.
// conversation is where they wrote.
func (b *Book) Ask(ctx context.Context, p Person, conversation string) (r Request, fresh, ok bool, err error) {
	code, err := b.newCode()
	if err != nil || p.ID == "" {
		return r, false, false, err
	}
	p.Name, p.Handle, p.Shown = clip(p.Name), clip(p.Handle), clip(p.Shown)
	err = b.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		r, fresh, ok = Request{}, false, false
		now := b.now().UnixMilli()
		waiting, err := b.sweep(tx, now, key(p.Channel, p.Account))
		if err != nil {
			return err
		}
		k := key(p.Channel, p.Account, p.ID)
		if r, ok, err = b.requests.Get(tx, k); err != nil || ok {
			return err
		}
		until, _, err := b.rejected.Get(tx, k)
		if err != nil || until > now || len(waiting) >= MaxPending {
			return err
		}
		r = Request{Person: p, Code: code, AskedAt: now, ExpiresAt: now + CodeLife.Milliseconds(), Conversation: conversation}
		fresh, ok = true, true
		return b.requests.Put(tx, k, r)
	}})
	return r, fresh, ok, err
}

// Rights are what a contact has beyond writing.
type Rights struct {
	Owner  bool // the owner's commands, and the owner's conversation
	Shared bool // the owner's conversation
}

// Approve lets in the person whose code this is.
func (b *Book) Approve(ctx context.Context, channel, code string, may Rights) (c Contact, err error) {
	err = b.settle(ctx, channel, code, func(tx *store.Tx, r Request) error {
		c = Contact{Person: r.Person, Owner: may.Owner, Shared: may.Shared, ApprovedAt: b.now().UnixMilli()}
		return b.contacts.Put(tx, key(r.Channel, r.Account, r.ID), c)
	})
	if err == nil {
		err = b.back(ctx, c.Person)
	}
	return c, err
}

// Change edits what a person may, and makes them a contact when they are none:
// for those whom a list of the settings lets in.
func (b *Book) Change(ctx context.Context, p Person, edit func(*Rights)) (c Contact, err error) {
	if p.ID == "" {
		return c, ErrNobody
	}
	err = b.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		k := key(p.Channel, p.Account, p.ID)
		var ok bool
		if c, ok, err = b.contacts.Get(tx, k); err != nil {
			return err
		}
		if !ok {
			c = Contact{Person: p, ApprovedAt: b.now().UnixMilli()}
		}
		may := Rights{c.Owner, c.Shared}
		edit(&may)
		c.Owner, c.Shared = may.Owner, may.Shared
		return b.contacts.Put(tx, k, c)
	}})
	if err == nil {
		err = b.back(ctx, p)
	}
	return c, err
}

// Reject drops the request with this code; the person cannot ask again for a
// day.
func (b *Book) Reject(ctx context.Context, channel, code string) (p Person, err error) {
	err = b.settle(ctx, channel, code, func(tx *store.Tx, r Request) error {
		p = r.Person
		return b.rejected.Put(tx, key(r.Channel, r.Account, r.ID), b.now().Add(rejectedFor).UnixMilli())
	})
	return p, err
}

// settle finds the request with a code, removes it and hands it to do. Wrong
// codes are counted; too many void all requests of the channel (A-PAIR-06).
func (b *Book) settle(ctx context.Context, channel, code string, do func(*store.Tx, Request) error) error {
	code = normal(code)
	var refusal error
	err := b.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		refusal = nil
		now := b.now().UnixMilli()
		g, _, err := b.guards.Get(tx, key(channel))
		if err != nil {
			return err
		}
		if now-g.Since > guessWindow.Milliseconds() || now < g.Since {
			g = guard{Since: now}
		}
		if g.Wrong >= maxGuesses {
			refusal = ErrThrottled
			return nil
		}
		waiting, err := b.sweep(tx, now, key(channel))
		if err != nil {
			return err
		}
		for _, r := range waiting {
			if same(r.Code, code) {
				if err := b.requests.Delete(tx, key(r.Channel, r.Account, r.ID)); err != nil {
					return err
				}
				return do(tx, r)
			}
		}
		refusal = ErrNoCode
		if g.Wrong++; g.Wrong >= maxGuesses {
			refusal = ErrThrottled
			if _, err := b.requests.DeleteRange(tx, store.Range{Prefix: key(channel)}, 1000); err != nil {
				return err
			}
		}
		return b.guards.Put(tx, key(channel), g)
	}})
	if err != nil {
		return err
	}
	return refusal
}

// sweep removes expired requests under a prefix and returns the others.
func (b *Book) sweep(tx *store.Tx, now int64, prefix []byte) (waiting []Request, err error) {
	var dead [][]byte
	for row, err := range b.requests.Scan(tx, store.Range{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		// A clock that was set back must not make a code live for ever.
		if r := row.Value; now >= r.ExpiresAt || now < r.AskedAt-CodeLife.Milliseconds() {
			dead = append(dead, append([]byte(nil), row.Key...))
		} else {
			waiting = append(waiting, r)
		}
	}
	for _, k := range dead {
		if err := b.requests.Delete(tx, k); err != nil {
			return nil, err
		}
	}
	return waiting, nil
}

// Requests lists who waits.
func (b *Book) Requests() (out []Request, err error) {
	now := b.now().UnixMilli()
	err = b.db.View(func(tx *store.Tx) error {
		for row, err := range b.requests.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if now < row.Value.ExpiresAt {
				out = append(out, row.Value)
			}
		}
		return nil
	})
	return out, err
}

// Contacts lists who was let in.
func (b *Book) Contacts() (out []Contact, err error) {
	err = b.db.View(func(tx *store.Tx) error {
		for row, err := range b.contacts.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			out = append(out, row.Value)
		}
		return nil
	})
	return out, err
}

// Remove takes a contact's right to write; false when there was none.
func (b *Book) Remove(ctx context.Context, channel, account, id string) (was bool, err error) {
	noted := b.gone(ctx, Person{Channel: channel, Account: account, ID: id})
	err = b.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		was = b.contacts.Has(tx, key(channel, account, id))
		return b.contacts.Delete(tx, key(channel, account, id))
	}})
	return was, errors.Join(noted, err)
}

func (b *Book) newCode() (string, error) {
	var raw [codeLength]byte
	if _, err := io.ReadFull(b.rand, raw[:]); err != nil {
		return "", fmt.Errorf("make a pairing code: %w", err)
	}
	for i := range raw {
		raw[i] = codeLetters[raw[i]%byte(len(codeLetters))] // 256 is a multiple of 32: no bias
	}
	return string(raw[:]), nil
}

// normal takes what a person typed: any case, with spaces or dashes.
func normal(code string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\t' {
			return -1
		}
		return r
	}, code))
}

func clip(s string) string {
	return text.Prefix(strings.ToValidUTF8(s, ""), longestField)
}

// same compares codes in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
