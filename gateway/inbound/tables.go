package inbound

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	rememberFor  = 7 * 24 * time.Hour
	repeatWindow = 10 * time.Minute
	pruneAtOnce  = 16
)

// pendingRow is text that waits for more of its sender.
type pendingRow struct {
	Seq            uint64          `json:"seq"`
	In             channel.Inbound `json:"in"`
	Owner          bool            `json:"owner,omitempty"`
	Shared         bool            `json:"shared,omitempty"`
	ReceivedAt     int64           `json:"receivedAt"`
	PossibleRepeat bool            `json:"possibleRepeat,omitempty"`
}

// at is when it was received (ms); of a sealed one, when it was written.
func (r pendingRow) at() int64 {
	if r.ReceivedAt == 0 && !r.In.At.IsZero() {
		return r.In.At.UnixMilli()
	}
	return r.ReceivedAt
}

// sealedRow is a turn that was written down and not yet taken by its session.
type sealedRow struct {
	Accepted Accepted        `json:"accepted"`
	First    channel.Inbound `json:"first"` // without its text; for decisions and order
	Attempts int             `json:"attempts,omitempty"`
}

// heard is a message of a group that was not meant for us.
type heard struct {
	In channel.Inbound `json:"in"`
}

// Quarantined is a message that could not be handled.
type Quarantined struct {
	ID           uint64   `json:"-"`
	At           int64    `json:"at"`
	Reason       string   `json:"reason"`
	Preview      string   `json:"preview"`
	Channel      string   `json:"channel"`
	Account      string   `json:"account"`
	Conversation string   `json:"conversation"`
	SenderID     string   `json:"senderId"`
	MessageIDs   []string `json:"messageIds"`
}

// quarantineRow is what is kept of it, so that it can be tried again: the turn
// that was sealed, or its messages, or the one that could not even be kept.
type quarantineRow struct {
	Quarantined
	Sealed *sealedRow       `json:"sealed,omitempty"`
	Rows   []pendingRow     `json:"rows,omitempty"`
	In     *channel.Inbound `json:"in,omitempty"`
}

// seenRow remembers a message by its words; SentAt is the network's time.
type seenRow struct {
	ReceivedAt int64 `json:"r"`
	SentAt     int64 `json:"s,omitempty"`
}

type tables struct {
	seen       store.Bucket[seenRow]       // id of the message
	words      store.Bucket[seenRow]       // hash of the content
	byTime     store.Bucket[[]byte]        // received at, id → content
	pending    store.Bucket[pendingRow]    // order
	sealed     store.Bucket[sealedRow]     // order
	heard      store.Bucket[heard]         // conversation, order
	last       store.Bucket[int64]         // conversation → time of its last message
	poison     store.Bucket[int]           // id of the message → failures
	quarantine store.Bucket[quarantineRow] // order
	skipped    store.Bucket[skippedRow]    // conversation
}

func newTables() tables {
	return tables{
		seen:       store.NewBucket[seenRow]("inbound.seen"),
		words:      store.NewBucket[seenRow]("inbound.seen.words"),
		byTime:     store.NewBucket[[]byte]("inbound.seen.time"),
		pending:    store.NewBucket[pendingRow]("inbound.pending"),
		sealed:     store.NewBucket[sealedRow]("inbound.sealed"),
		heard:      store.NewBucket[heard]("inbound.heard"),
		last:       store.NewBucket[int64]("inbound.last"),
		poison:     store.NewBucket[int]("inbound.poison"),
		quarantine: store.NewBucket[quarantineRow]("inbound.quarantine"),
		skipped:    store.NewBucket[skippedRow]("inbound.skipped"),
	}
}

// digest is a short key for parts of any size and content.
func digest(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return h.Sum(nil)[:16]
}

// messageKey is the identity of a message. The sender is part of it because on
// some networks senders choose the ids of their messages.
func messageKey(in channel.Inbound) []byte {
	if in.Press.Pressed() {
		return digest("press", in.Channel, in.Account, in.Conversation, in.SenderID, in.Press.ID)
	}
	if in.MessageID == "" {
		return append(digest("no id", fmt.Sprint(in.At.UnixNano())), contentKey(in)...)
	}
	return digest(in.Channel, in.Account, in.Conversation, in.SenderID, in.MessageID)
}

func contentKey(in channel.Inbound) []byte {
	parts := []string{in.Channel, in.Account, in.Conversation, in.Thread, in.SenderID, in.Text}
	if in.Forwarded.From != "" {
		parts = append(parts, "forwarded", in.Forwarded.From, in.Forwarded.Text)
	}
	for _, m := range in.Media {
		parts = append(parts, m.MIME, m.Name, m.URL, fmt.Sprint(m.Size))
	}
	return digest(parts...)
}

// conversationKey is where a message was written.
func conversationKey(in channel.Inbound) []byte {
	return digest(in.Channel, in.Account, in.Conversation, in.Thread)
}

// streamKey is what one person writes in one place.
func streamKey(in channel.Inbound) string {
	return string(digest(in.Channel, in.Account, in.Conversation, in.Thread, in.SenderID))
}

// repeat says whether a message was here before.
type repeat struct {
	drop   bool
	rule   Rule
	detail string
}

// moment reports whether a network's time tells two messages of one person apart.
// Whole seconds do not: somebody who writes "yes" twice in one second means it.
func moment(at time.Time) bool { return !at.IsZero() && at.UnixMilli()%1000 != 0 }

// remember notes a message and says whether it is a repetition. What has an id
// of its own is dropped only when nothing but a repetition can look like it: an
// answer too many is better than a message that is lost. Old notes are removed a
// few at a time.
func (t *tables) remember(tx *store.Tx, in channel.Inbound, now time.Time) (repeat, error) {
	id, words := messageKey(in), contentKey(in)
	row := seenRow{ReceivedAt: now.UnixMilli()}
	if !in.At.IsZero() {
		row.SentAt = in.At.UnixMilli()
	}
	fresh := func(r seenRow, within time.Duration) bool { return row.ReceivedAt-r.ReceivedAt < within.Milliseconds() }
	known := rememberFor
	if in.MessageID == "" && in.At.IsZero() {
		known = 0 // only its words are known, see below
	}
	if old, ok, err := t.seen.Get(tx, id); err != nil || ok && fresh(old, known) {
		return repeat{drop: true, rule: RuleDuplicate, detail: "the network brought this message before"}, err
	}
	old, same, err := t.words.Get(tx, words)
	if err != nil {
		return repeat{}, err
	}
	var r repeat
	switch {
	case !same:
	case moment(in.At) && old.SentAt == row.SentAt && fresh(old, rememberFor):
		r = repeat{drop: true, rule: RulePossibleRepeat, detail: "the same words of the same moment were here before, under another id"}
	case in.MessageID == "" && in.At.IsZero() && fresh(old, repeatWindow):
		r = repeat{drop: true, rule: RulePossibleRepeat, detail: "the same words were here a moment ago, and the message has neither id nor time"}
	case fresh(old, repeatWindow):
		r = repeat{rule: RulePossibleRepeat, detail: "the same words were here a moment ago"}
	}
	if err := t.forgetOld(tx, now.Add(-rememberFor)); err != nil {
		return r, err
	}
	if err := t.seen.Put(tx, id, row); err != nil {
		return r, err
	}
	if err := t.words.Put(tx, words, row); err != nil {
		return r, err
	}
	return r, t.byTime.Put(tx, append(store.Uint64Key(uint64(row.ReceivedAt)), id...), words)
}

func (t *tables) forgetOld(tx *store.Tx, before time.Time) error {
	type old struct{ key, words []byte }
	var list []old
	for row, err := range t.byTime.Scan(tx, store.Range{Before: store.Uint64Key(uint64(before.UnixMilli()))}) {
		if err != nil {
			return err
		}
		if list = append(list, old{append([]byte(nil), row.Key...), row.Value}); len(list) == pruneAtOnce {
			break
		}
	}
	for _, o := range list {
		if err := t.byTime.Delete(tx, o.key); err != nil {
			return err
		}
		if err := t.seen.Delete(tx, o.key[8:]); err != nil {
			return err
		}
		if w, ok, err := t.words.Get(tx, o.words); err != nil || ok && w.ReceivedAt < before.UnixMilli() {
			if err := t.words.Delete(tx, o.words); err != nil {
				return err
			}
		}
	}
	return nil
}
