// Package audit keeps the log of what somebody may have to answer for: who was
// let in, what was asked and allowed, what ran, what was changed and sent. Each
// entry holds the hash of the one before it, and the store holds the hash of
// the last one, so that a changed, removed or reordered entry shows. Who may
// write both the file and the store can forge both; against them a log on this
// machine is no help. It owns its files and nothing of what is written there.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// Kind is what an entry is about.
type Kind string

const (
	KindAuth     Kind = "auth"
	KindApproval Kind = "approval"
	KindExec     Kind = "exec"
	KindTool     Kind = "tool"
	KindConfig   Kind = "config"
	KindInstall  Kind = "install"
	KindSend     Kind = "send"
	KindPause    Kind = "pause"
	KindAudit    Kind = "audit" // about the log itself
)

// Entry is one line.
type Entry struct {
	Seq     uint64            `json:"seq"`
	At      int64             `json:"at"`
	Kind    Kind              `json:"kind"`
	What    string            `json:"what"` // plain words
	Who     string            `json:"who,omitempty"`
	Session string            `json:"session,omitempty"`
	Run     string            `json:"run,omitempty"`
	Facts   map[string]string `json:"facts,omitempty"`
	Prev    string            `json:"prev"` // hash of the entry before
	Hash    string            `json:"-"`    // stands behind everything else in the line
}

const (
	defaultMaxBytes = 8 << 20
	defaultKeep     = 8
	maxValue        = 1 << 10
	maxFacts        = 24
	queueLength     = 1024
	maxBatch        = 256
)

// Options of a Log.
type Options struct {
	Path     string // of the current file; older ones stand beside it
	DB       *store.DB
	Now      func() time.Time
	Redact   func(string) string // nil: values stay as they are
	Logger   *slog.Logger
	MaxBytes int64 // of one file; 0: 8 MiB
	Keep     int   // files beside the current one; 0: 8
}

// mark is a place in the chain.
type mark struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Log is safe for concurrent use.
type Log struct {
	Options
	marks store.Bucket[mark] // "head": the last entry; "base": the last one that was dropped
	base  context.Context

	queue  chan *queued // pointers: room for a thousand entries themselves would be 140 KB
	done   chan struct{}
	closed sync.Once

	mu   sync.Mutex // held while files are written or read
	file *os.File
	size int64
	head mark
	gap  error // why the newest entries are not on disk
}

type queued struct {
	entry Entry
	flush chan error // set for Flush: no entry
}

// Open takes the log up where it was left and starts to write.
func Open(ctx context.Context, o Options) (*Log, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	l := &Log{
		Options: o, marks: store.NewBucket[mark]("audit"), base: context.WithoutCancel(ctx),
		queue: make(chan *queued, queueLength), done: make(chan struct{}),
	}
	notes, err := l.takeUp()
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	go l.write()
	for _, n := range notes {
		l.Add(Entry{Kind: KindAudit, What: n})
	}
	return l, nil
}

// Add notes something. It waits only when very much is on its way.
func (l *Log) Add(e Entry) {
	e.At = l.Now().UnixMilli()
	l.clean(&e)
	select {
	case l.queue <- &queued{entry: e}:
	case <-l.done:
	}
}

// clean makes an entry safe to keep: no secrets, no endless values.
func (l *Log) clean(e *Entry) {
	fix := func(s string) string {
		if l.Redact != nil {
			s = l.Redact(s)
		}
		s = strings.ToValidUTF8(s, "\uFFFD")
		if len(s) > maxValue {
			s = strings.ToValidUTF8(s[:maxValue], "") + " …"
		}
		return s
	}
	e.What, e.Who, e.Session, e.Run = fix(e.What), fix(e.Who), fix(e.Session), fix(e.Run)
	facts := make(map[string]string, len(e.Facts))
	for k, v := range e.Facts {
		if len(facts) == maxFacts {
			break
		}
		facts[fix(k)] = fix(v)
	}
	e.Facts = facts
}

// Flush returns when everything that was added before is on disk.
func (l *Log) Flush(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case l.queue <- &queued{flush: done}:
	case <-l.done:
		return errors.New("the audit log is closed")
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes what is left. Nothing may be added any more.
func (l *Log) Close(ctx context.Context) error {
	err := l.Flush(ctx)
	l.closed.Do(func() { close(l.done) })
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	return err
}

// Problem says why the newest entries are not on disk, nil when they are.
func (l *Log) Problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gap
}

// write is the one writer: what has gathered is one write and one flush.
func (l *Log) write() {
	for {
		var batch []*queued
		select {
		case q := <-l.queue:
			batch = append(batch, q)
		case <-l.done:
			return
		}
	gather:
		for len(batch) < maxBatch {
			select {
			case q := <-l.queue:
				batch = append(batch, q)
			default:
				break gather
			}
		}
		err := l.put(batch)
		if err != nil {
			l.Logger.Error("the audit log could not be written", "err", err)
		}
		for _, q := range batch {
			if q.flush != nil {
				q.flush <- err
			}
		}
	}
}

// put writes a batch and then moves the anchor. A batch that failed is lost,
// which the next entry that can be written tells.
func (l *Log) put(batch []*queued) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var buf []byte
	head := l.head
	lost := 0
	add := func(e Entry) {
		e.Seq, e.Prev = head.Seq+1, head.Hash
		line, hash := encode(e)
		buf = append(buf, line...)
		head = mark{e.Seq, hash}
	}
	if l.gap != nil {
		add(Entry{At: l.Now().UnixMilli(), Kind: KindAudit, What: "entries before this one could not be written: " + l.gap.Error()})
	}
	for _, q := range batch {
		if q.flush == nil {
			add(q.entry)
			lost++
		}
	}
	if lost == 0 && l.gap == nil {
		return nil
	}
	if err := l.commit(buf, head); err != nil {
		l.gap = err
		return fmt.Errorf("%d entries: %w", lost, err)
	}
	l.gap = nil
	return nil
}

// commit makes bytes durable, then says so in the store. l.mu is held.
func (l *Log) commit(buf []byte, head mark) error {
	if l.file == nil {
		return os.ErrClosed
	}
	if _, err := l.file.WriteAt(buf, l.size); err != nil {
		_ = l.file.Truncate(l.size) // half a line must not stay
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.size += int64(len(buf))
	l.head = head
	if err := l.anchor("head", head); err != nil {
		return err
	}
	if l.size >= l.MaxBytes {
		return l.rotate()
	}
	return nil
}

func (l *Log) anchor(name string, m mark) error {
	return l.DB.Update(l.base, store.Write{Must: true, Do: func(tx *store.Tx) error { return l.marks.Put(tx, []byte(name), m) }})
}

// encode returns the line of an entry with its hash. The hash is over the
// line's bytes before it, which hold the hash of the entry before.
func encode(e Entry) (line []byte, hash string) {
	body, err := json.Marshal(e)
	if err != nil { // strings and numbers only
		body = []byte(`{"kind":"audit","what":"an entry could not be written"}`)
	}
	hash = hashOf(body)
	line = append(body[:len(body)-1:len(body)-1], `,"hash":"`...)
	line = append(line, hash...)
	return append(line, '"', '}', '\n'), hash
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
