// Package speech writes down what people say in voice notes: by a model of a service
// that its person set up, or by a program of this computer, in the order of the
// settings (tools.media.audio). It owns the limits of size, time and number, the
// order, and what it costs. It asks nobody that its person did not choose.
//
// It does not own where sounds come from and what becomes of the words (package
// attachment), how a service is spoken to (package transcription), or what is in the
// bytes of a sound (package sound).
package speech

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/guarded"
)

// Errors that callers decide on.
var (
	// ErrOff: nobody is to write down what is said.
	ErrOff = errors.New("nothing here writes down speech")
	// ErrSilent: there are no words in it.
	ErrSilent = errors.New("no words were heard in it")
)

const (
	// leastBytes: what is shorter says nothing.
	leastBytes = 1 << 10
	// remembered is how many sounds are not asked about again.
	remembered = 32
	// maxWords bounds what is taken of an answer, in bytes.
	maxWords = 256 << 10
)

// Options are the parts that a Writer needs; all of them but Apart.
type Options struct {
	Settings  *config.File
	Models    *provider.Registry
	Accounts  *accounts.Accounts
	Guard     *guarded.Guard
	Execution *execution.Environment
	Apart     []string // starts package apart's Main; nil: its jobs are done in this process
	Now       func() time.Time
	Logger    *slog.Logger
}

// Sound is what somebody said.
type Sound struct {
	Name    string // a harmless file name
	MIME    string
	Data    []byte
	Session string // whose message it came with, for the ledger
	Agent   string
}

// Words are what was heard.
type Words struct {
	Text string // never empty
	By   string // "openai/whisper-1", or a program
	Cut  bool   // there was more
}

// Writer writes down what is said. Its methods may be called from several goroutines.
type Writer struct {
	o      Options
	client *http.Client
	apart  *isolate.Runner // nil: none

	mu      sync.Mutex
	running int
	changed chan struct{} // closed and replaced when one ends
	known   map[[sha256.Size]byte]Words
	order   [][sha256.Size]byte
}

// New returns a writer, which opens no connection yet.
func New(o Options) *Writer {
	w := &Writer{
		o: o, client: &http.Client{Transport: egress.Operator(), CheckRedirect: egress.SameOrigin}, changed: make(chan struct{}),
		known: map[[sha256.Size]byte]Words{},
	}
	if o.Apart != nil {
		w.apart = isolate.New(o.Apart)
	}
	return w
}

// Write writes down what is said in a sound. Its error says why nobody could, for the
// owner; ErrOff when nobody is to.
func (w *Writer) Write(ctx context.Context, s Sound) (Words, error) {
	c := Section.Of(w.o.Settings.Snapshot().Config)
	if !c.Audio.Enabled || len(c.Audio.Models) == 0 {
		return Words{}, ErrOff
	}
	if len(s.Data) < leastBytes {
		return Words{}, errors.New("it is too short to hold words")
	}
	id := sha256.Sum256(append(fmt.Appendf(nil, "%v\n", c.Audio), s.Data...))
	if got, ok := w.recall(id); ok {
		return got, nil
	}
	leave, err := w.enter(ctx, c.Concurrency)
	if err != nil {
		return Words{}, err
	}
	defer leave()
	var why []string
	for _, m := range c.Audio.Models {
		if !m.hears() {
			continue
		}
		m = c.Audio.filled(m)
		words, err := w.ask(ctx, m, s)
		switch {
		case err == nil:
			w.remember(id, words)
			return words, nil
		case ctx.Err() != nil:
			return Words{}, ctx.Err()
		case errors.Is(err, ErrSilent):
			return Words{}, err
		}
		w.o.Logger.Warn("a sound was not written down", "by", m.name(), "err", err)
		why = append(why, err.Error())
	}
	if len(why) == 0 {
		return Words{}, ErrOff
	}
	return Words{}, errors.New(strings.Join(why, "; then "))
}

// ask has one of the settings' models write it down, within its limits.
func (w *Writer) ask(ctx context.Context, m Model, s Sound) (Words, error) {
	if len(s.Data) > m.MaxBytes {
		return Words{}, fmt.Errorf("it has %.1f MB, and %s takes %.1f MB at most (tools.media.audio.maxBytes)", float64(len(s.Data))/(1<<20),
			m.name(), float64(m.MaxBytes)/(1<<20))
	}
	limited, stop := awake.WithTimeout(ctx, m.timeout())
	defer stop()
	var text string
	var err error
	if m.Type == typeCLI {
		text, err = w.local(limited, m, s)
	} else {
		text, err = w.service(limited, m, s)
	}
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return Words{}, fmt.Errorf("%s took longer than %v (tools.media.audio.timeoutSeconds)", m.name(), m.timeout())
	}
	if err != nil {
		return Words{}, err
	}
	words := Words{By: m.name()}
	if words.Text, words.Cut = shortened(clean(text), m.MaxChars); words.Text == "" {
		return Words{}, ErrSilent
	}
	return words, nil
}

// clean is a text without what cannot be words.
func clean(s string) string {
	if len(s) > maxWords {
		s = s[:maxWords]
	}
	s = strings.TrimSpace(strings.ToValidUTF8(s, ""))
	switch strings.ToUpper(strings.Trim(s, "[]() ")) {
	case "BLANK_AUDIO", "SILENCE", "NO SPEECH":
		return ""
	}
	return s
}

// shortened is the beginning of s, most characters of it; 0: all.
func shortened(s string, most int) (string, bool) {
	if most <= 0 || utf8.RuneCountInString(s) <= most {
		return s, false
	}
	return strings.TrimSpace(string([]rune(s)[:most])), true
}

// enter waits until another sound may be written down.
func (w *Writer) enter(ctx context.Context, most int) (leave func(), err error) {
	for {
		w.mu.Lock()
		if w.running < max(most, 1) {
			w.running++
			w.mu.Unlock()
			return w.leave, nil
		}
		c := w.changed
		w.mu.Unlock()
		select {
		case <-c:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (w *Writer) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	close(w.changed)
	w.changed = make(chan struct{})
}

// recall is what was heard in the same sound before: a message that could not be
// stored comes again, and is not paid again.
func (w *Writer) recall(id [sha256.Size]byte) (Words, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	words, ok := w.known[id]
	return words, ok
}

func (w *Writer) remember(id [sha256.Size]byte, words Words) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.known[id]; ok {
		return
	}
	if len(w.order) >= remembered {
		delete(w.known, w.order[0])
		w.order = w.order[1:]
	}
	w.known[id], w.order = words, append(w.order, id)
}

// Echo is what was heard as its sender is shown it, "" when that is not wanted.
func (w *Writer) Echo(text string) string {
	a := Section.Of(w.o.Settings.Snapshot().Config).Audio
	if !a.EchoTranscript {
		return ""
	}
	return strings.ReplaceAll(a.EchoFormat, "{transcript}", text)
}
