package hooks

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// maxWaiting bounds what one hook may have accepted and not done: more is
	// refused, so that what was accepted is not lost.
	maxWaiting = 1000
	// keepKeys is how long a call that comes again is known.
	keepKeys = 7 * 24 * time.Hour
	// keepItems is the same for the items of a list, which are known by what they say.
	keepItems = time.Hour
	// keepSessions is how long a conversation of one run stays.
	keepSessions = 24 * time.Hour
)

// row is one accepted action, from the moment of its acceptance.
type row struct {
	ID         string `json:"id"` // of its run; ids sort by time
	Seq        uint64 `json:"seq"`
	Hook       string `json:"hook"`
	Kind       string `json:"kind"`
	Label      string `json:"label,omitempty"`
	Own        string `json:"own,omitempty"`
	Body       string `json:"body,omitempty"`
	Agent      string `json:"agent"`
	Session    string `json:"session"`
	Single     bool   `json:"single,omitempty"` // the session is this run's alone
	WakeMode   string `json:"wakeMode,omitempty"`
	Deliver    bool   `json:"deliver,omitempty"`
	Route      string `json:"route,omitempty"`
	Model      string `json:"model,omitempty"`
	Thinking   string `json:"thinking,omitempty"`
	TimeoutMs  int64  `json:"timeoutMs,omitempty"`
	Key        string `json:"key,omitempty"` // by which the call is known again
	AcceptedAt int64  `json:"acceptedAt"`
	DoneAt     int64  `json:"doneAt,omitempty"`
	Gone       bool   `json:"gone,omitempty"` // its session was cleared away

	Status string `json:"status,omitempty"` // ok, error, skipped
	Reply  string `json:"reply,omitempty"`  // visible, silent, empty
}

// keyRow is what a call that comes again is told.
type keyRow struct {
	IDs    []string `json:"ids"`
	Digest string   `json:"digest"`
	Until  int64    `json:"until"`
}

// told is a result that the main session has yet to be told.
type told struct {
	Label string `json:"label"`
	Main  string `json:"main"`
	Text  string `json:"text"`
}

// accepted is what a call is answered.
type accepted struct {
	ids       []string
	duplicate bool
}

// book keeps what was accepted and has it done.
type book struct {
	o    Options
	rows store.Bucket[row]
	open store.Bucket[string] // by place in the order of acceptance
	keys store.Bucket[keyRow]
	tell store.Bucket[told]

	mu      sync.Mutex
	pending []row           // accepted and not begun, in order
	waiting map[string]int  // of each hook, accepted and not done
	busy    map[string]bool // sessions that one is at work in
	working int
	ends    map[string]chan struct{} // of those that are not done
	kick    chan struct{}
}

func openBook(o Options) (*book, error) {
	b := &book{
		o: o, rows: store.NewBucket[row]("hooks"), open: store.NewBucket[string]("hooks.open"), keys: store.NewBucket[keyRow]("hooks.keys"),
		tell:    store.NewBucket[told]("hooks.tell"),
		waiting: map[string]int{}, busy: map[string]bool{}, ends: map[string]chan struct{}{}, kick: make(chan struct{}, 1),
	}
	err := o.Store.View(func(tx *store.Tx) error {
		for at, err := range b.open.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			r, ok, err := b.rows.Get(tx, []byte(at.Value))
			if err != nil || !ok {
				return fmt.Errorf("read an accepted hook: %w", err)
			}
			b.add(r)
		}
		return nil
	})
	return b, err
}

// add puts an accepted row into the queue. The mutex is held, or nobody else is there.
func (b *book) add(r row) {
	b.pending = append(b.pending, r)
	b.waiting[r.Hook]++
	b.ends[r.ID] = make(chan struct{})
}

// keyOf is how a call is known when it comes again, "" when it cannot be: by the
// caller's key, by what was signed, or by what its items say.
func keyOf(in incoming, p plan) string {
	h := sha256.New()
	switch {
	case in.idem != "":
		fmt.Fprintf(h, "key\x00%s\x00%s\x00%s", in.by, in.name, in.idem)
	case in.event != "":
		fmt.Fprintf(h, "event\x00%s\x00%s\x00%s", in.by, in.name, in.event)
	case p.batch:
		fmt.Fprintf(h, "items\x00%s\x00%s\x00%s", in.by, in.name, digestOf(p))
	default:
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func digestOf(p plan) string {
	h := sha256.New()
	for _, a := range p.actions {
		raw, _ := json.Marshal([]any{
			a.kind, a.label, a.own, a.body, a.agent, a.session, a.mode, a.wakeMode, a.deliver, a.route, a.model, a.thinking, a.timeoutMs,
		})
		h.Write(raw)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// known tells what became of a call that was here before.
func (b *book) known(in incoming, p plan) (acc accepted, known bool, err error) {
	key := keyOf(in, p)
	if key == "" {
		return acc, false, nil
	}
	err = b.o.Store.View(func(tx *store.Tx) error {
		acc, known, err = b.before(tx, key, in, digestOf(p))
		return err
	})
	return acc, known, err
}

func (b *book) before(tx *store.Tx, key string, in incoming, digest string) (acc accepted, known bool, err error) {
	k, ok, err := b.keys.Get(tx, []byte(key))
	if err != nil || !ok || k.Until < b.o.Now().UnixMilli() {
		return acc, false, err
	}
	if k.Digest != digest && in.event == "" { // what was signed is the same; a template may name the time
		return acc, true, &refusal{status: http.StatusConflict,
			text: "This idempotency key was used for something else. Use a new one for a new call."}
	}
	return accepted{k.IDs, true}, true, nil
}

// accept writes all actions of a call in one transaction.
func (b *book) accept(ctx context.Context, in incoming, p plan) (acc accepted, err error) {
	if err := b.room(in.name, len(p.actions)); err != nil {
		return acc, err
	}
	key, digest := keyOf(in, p), digestOf(p)
	rows := b.rowsOf(p, key)
	err = b.o.Store.Update(ctx, store.Write{
		Do: func(tx *store.Tx) error {
			acc = accepted{}
			if key != "" {
				known := false
				if acc, known, err = b.before(tx, key, in, digest); known || err != nil {
					return err
				}
			}
			for i := range rows {
				if rows[i].Seq, err = b.open.NextSeq(tx); err != nil {
					return err
				}
				if err := errors.Join(b.rows.Put(tx, []byte(rows[i].ID), rows[i]),
					b.open.Put(tx, store.Uint64Key(rows[i].Seq), rows[i].ID)); err != nil {
					return err
				}
				acc.ids = append(acc.ids, rows[i].ID)
			}
			if key == "" {
				return nil
			}
			life := keepKeys
			if in.idem == "" && in.event == "" {
				life = keepItems
			}
			return b.keys.Put(tx, []byte(key), keyRow{acc.ids, digest, b.o.Now().Add(life).UnixMilli()})
		},
		Then: func() {
			if acc.duplicate {
				return
			}
			b.mu.Lock()
			for _, r := range rows {
				b.add(r)
			}
			b.mu.Unlock()
			b.look()
		},
	})
	return acc, err
}

// room refuses what would have to wait behind too much.
func (b *book) room(hook string, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[hook]+n > maxWaiting {
		return &refusal{http.StatusTooManyRequests, "Too much of this hook waits to be done. Send it again later.", time.Minute}
	}
	return nil
}

func (b *book) rowsOf(p plan, key string) (rows []row) {
	at := b.o.Now().UnixMilli()
	for _, a := range p.actions {
		var raw [10]byte
		_, _ = rand.Read(raw[:]) // never fails: the process ends instead
		id := fmt.Sprintf("hook:%012x%s", at, hex.EncodeToString(raw[:]))
		r := row{
			ID: id, Hook: a.hook, Kind: a.kind, Label: a.label, Own: a.own, Body: a.body, Agent: a.agent, Session: a.session, WakeMode: a.wakeMode,
			Deliver: a.deliver,
			Route:   a.route, Model: a.model, Thinking: a.thinking, TimeoutMs: a.timeoutMs, Key: key, AcceptedAt: at,
		}
		switch {
		case r.Session == "":
			r.Session, r.Single = "agent:"+a.agent+":"+id, true
		case a.mode == isolated:
			r.Session, r.Single = r.Session+":run:"+id[len("hook:"):], true
		}
		rows = append(rows, r)
	}
	return rows
}

// look has the queue looked at.
func (b *book) look() {
	select {
	case b.kick <- struct{}{}:
	default:
	}
}

// await returns how a run ended, when it has.
func (b *book) await(ctx context.Context, id string) (completion, error) {
	b.mu.Lock()
	end := b.ends[id]
	b.mu.Unlock()
	if end != nil {
		select {
		case <-end:
		case <-ctx.Done():
			return completion{}, ctx.Err()
		}
	}
	var r row
	err := b.o.Store.View(func(tx *store.Tx) (err error) {
		r, _, err = b.rows.Get(tx, []byte(id))
		return err
	})
	return completion{Status: r.Status, Reply: r.Reply}, err
}

// completion is how an answered call ended, without its words.
type completion struct {
	Status string `json:"status"`
	Reply  string `json:"replyDisposition,omitempty"`
}

// next takes the first row that may begin.
func (b *book) next() (r row, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.working >= maxWorking {
		return r, false
	}
	i := slices.IndexFunc(b.pending, func(r row) bool { return !b.busy[r.Session] })
	if i < 0 {
		return r, false
	}
	r = b.pending[i]
	b.pending = slices.Delete(b.pending, i, i+1)
	b.busy[r.Session] = true
	b.working++
	return r, true
}

// back ends the work on a row; again puts it where it was.
func (b *book) back(r row, again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.busy, r.Session)
	b.working--
	if again {
		at, _ := slices.BinarySearchFunc(b.pending, r.Seq, func(o row, seq uint64) int {
			if o.Seq < seq {
				return -1
			}
			return 1
		})
		b.pending = slices.Insert(b.pending, at, r)
		return
	}
	if b.waiting[r.Hook]--; b.waiting[r.Hook] <= 0 {
		delete(b.waiting, r.Hook)
	}
	close(b.ends[r.ID])
	delete(b.ends, r.ID)
}
