package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Bounds of the files that wait in memory until their person says yes.
const (
	mostWaiting      = 10
	mostWaitingBytes = 100 << 20
	waitTime         = 12 * time.Hour
	mostGiven        = 50   // ids that are remembered, so that a yes that comes twice is told from one that is too late
	mostPeople       = 1000 // of whom it is known in which chat they are
)

const waitingKey = "files"

// askedFile is one that its person was asked about. All of it but its bytes stays over a
// restart: who says yes later is told that it waits no longer.
type askedFile struct {
	ID           string `json:"id"` // unguessable; the card brings it back
	Conversation string `json:"conversation"`
	Person       string `json:"person,omitempty"` // "": nobody wrote there since the program began
	Card         string `json:"card,omitempty"`   // the message with the question; "": its id was never told
	Name         string `json:"name"`
	Text         string `json:"text,omitempty"` // the words that came with it, as Markdown
	Until        int64  `json:"until"`          // a Unix time

	data  []byte
	taken bool // its person said yes or no, or it is just taken away
	given bool // they said yes in time
}

// waiting are the files that wait for a yes, the oldest first.
type waiting struct {
	durable channel.Durable
	now     func() time.Time
	logger  *slog.Logger
	jobs    chan job

	saving sync.Mutex // one is written after the other
	mu     sync.Mutex
	all    []*askedFile
	given  []string          // ids of those that went where they were wanted
	people map[string]string // who is in a chat with one person
}

func newWaiting(durable channel.Durable, now func() time.Time, logger *slog.Logger) *waiting {
	return &waiting{durable: durable, now: now, logger: logger, jobs: make(chan job, 4*mostWaiting), people: map[string]string{}}
}

// remember reads what waited when the program ended: the bytes are gone.
func (w *waiting) remember(ctx context.Context) error {
	if w.durable == nil {
		return nil
	}
	b, err := w.durable.Get(ctx, waitingKey)
	if err != nil || len(b) == 0 {
		return err
	}
	var kept []*askedFile
	if err := json.Unmarshal(b, &kept); err != nil {
		return fmt.Errorf("read which files waited: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range kept[:min(len(kept), mostWaiting)] {
		if f != nil && !slices.ContainsFunc(w.all, func(have *askedFile) bool { return have.ID == f.ID }) {
			w.all = append(w.all, f)
		}
	}
	return nil
}

func (w *waiting) save(ctx context.Context) {
	if w.durable == nil {
		return
	}
	w.saving.Lock()
	defer w.saving.Unlock()
	w.mu.Lock()
	b, err := json.Marshal(w.all)
	w.mu.Unlock()
	if err == nil {
		err = w.durable.Put(ctx, waitingKey, b)
	}
	if err != nil {
		w.logger.Warn("which files wait for a yes could not be kept", "err", err)
	}
}

// met notes who is in a chat with one person.
func (w *waiting) met(conversation, person string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.people) >= mostPeople && w.people[conversation] == "" {
		clear(w.people) // they are told again with the next messages
	}
	w.people[conversation] = person
}

// add makes a file wait. Where there is no room for it, the oldest wait no longer.
func (w *waiting) add(ctx context.Context, f *askedFile) error {
	w.mu.Lock()
	f.Person, f.Until = w.people[f.Conversation], w.now().Add(waitTime).Unix()
	bytes, count := int64(len(f.data)), 1
	var gone []*askedFile
	for _, have := range slices.Backward(w.all) { // the newest stay
		if have.taken || count < mostWaiting && bytes+int64(len(have.data)) <= mostWaitingBytes {
			bytes, count = bytes+int64(len(have.data)), count+1
			continue
		}
		gone = append(gone, have)
	}
	if bytes > mostWaitingBytes || count > mostWaiting {
		w.mu.Unlock()
		return &channel.RateLimit{After: time.Minute} // files that people said yes to are on their way
	}
	for _, have := range gone {
		have.taken, have.data = true, nil
	}
	w.all = append(w.all, f)
	w.mu.Unlock()
	for _, have := range gone {
		w.put(job{file: have, words: waitsNot(have.Name, "newer files took its place")})
	}
	w.save(ctx)
	return nil
}

// asked notes the message with the question. A file that made room for others meanwhile
// leaves none behind.
func (w *waiting) asked(ctx context.Context, f *askedFile, card string) {
	w.mu.Lock()
	late := f.Card == "" && !slices.Contains(w.all, f)
	f.Card = card
	w.mu.Unlock()
	if late {
		w.put(job{file: f, words: waitsNot(f.Name, "newer files took its place")})
	}
	w.save(ctx)
}

// How an answer to a question is taken.
type verdict int

const (
	unknown  verdict = iota // no file has the id, or another chat's has
	again                   // it was answered before
	noLonger                // it waits no longer
	granted
)

// answer takes what somebody said to a question, once.
func (w *waiting) answer(id, conversation, person, card string) (f *askedFile, data []byte, v verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.all, func(f *askedFile) bool { return f.ID == id })
	if i < 0 {
		if slices.Contains(w.given, id) {
			return nil, nil, again
		}
		return nil, nil, unknown
	}
	f = w.all[i]
	switch {
	case f.Conversation != conversation, f.Person != "" && f.Person != person:
		return nil, nil, unknown
	case f.taken:
		return nil, nil, again
	}
	f.taken = true
	if f.Card == "" {
		f.Card = card
	}
	if f.data == nil || w.now().Unix() >= f.Until {
		f.data = nil
		return f, nil, noLonger
	}
	f.given = true
	return f, f.data, granted
}

// finish forgets a file.
func (w *waiting) finish(ctx context.Context, f *askedFile) {
	w.mu.Lock()
	f.data, f.taken = nil, true
	w.all = slices.DeleteFunc(w.all, func(have *askedFile) bool { return have == f })
	if f.given {
		w.given = append(w.given, f.ID)
		w.given = w.given[max(len(w.given)-mostGiven, 0):]
	}
	w.mu.Unlock()
	w.save(ctx)
}

// expire ends what waited for too long.
func (w *waiting) expire(ctx context.Context) {
	w.mu.Lock()
	now, freed := w.now().Unix(), false
	var gone []*askedFile
	for _, f := range w.all {
		if !f.taken && now >= f.Until {
			f.taken, f.data, freed = true, nil, true
			gone = append(gone, f)
		}
	}
	w.mu.Unlock()
	for _, f := range gone {
		w.put(job{file: f, words: waitsNot(f.Name, "it waited for 12 hours")})
	}
	if freed {
		w.save(ctx)
	}
}

// under is the question below a message that gets other words; nil: there is none, or its
// file is lost.
func (w *waiting) under(ctx context.Context, conversation, message, words string) *attachment {
	w.mu.Lock()
	i := w.of(conversation, message)
	if i < 0 || w.all[i].data == nil {
		w.mu.Unlock()
		return nil
	}
	w.all[i].Text = words
	card := w.all[i].card()
	w.mu.Unlock()
	w.save(ctx)
	return &card
}

// withdraw forgets the file of a message that is removed.
func (w *waiting) withdraw(ctx context.Context, conversation, message string) {
	w.mu.Lock()
	i := w.of(conversation, message)
	if i < 0 {
		w.mu.Unlock()
		return
	}
	f := w.all[i]
	f.taken = true
	w.mu.Unlock()
	w.finish(ctx, f)
}

// shown is the message with the question, and the words in it.
func (w *waiting) shown(f *askedFile) (card, words string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return f.Card, f.Text
}

func (w *waiting) of(conversation, message string) int {
	return slices.IndexFunc(w.all, func(f *askedFile) bool {
		return !f.taken && f.Conversation == conversation && f.Card == message && message != ""
	})
}

// put hands work to who does it. There is room for all that waits; what is more than
// that was never asked.
func (w *waiting) put(j job) {
	select {
	case w.jobs <- j:
	default:
		w.logger.Warn("an answer about a file was left out", "why", "too many came at once")
	}
}
