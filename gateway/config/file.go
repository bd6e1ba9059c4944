package config

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Options of a File. The zero value works.
type Options struct {
	Logger       *slog.Logger
	LastGoodPath string                      // default: the file's path + ".last-good"
	Sections     Sections                    // what is read, and by whom
	Env          func(string) (string, bool) // for ${NAME}; default: no variable is set
	OnChange     func(*Snapshot)             // after every new snapshot; must return soon
	Now          func() time.Time            // default: time.Now
	Debounce     time.Duration               // Watch: quiet time before a change is read; default 100 ms
	Poll         time.Duration               // Watch: how often the file is looked at where no notices come; default 2 s
	Patience     time.Duration               // how long a subscriber or another editor may take; default 5 s
}

// File is the settings file. Its methods may be called at the same time.
type File struct {
	path string
	opts Options
	turn chan struct{} // holds one token: edits and reloads take turns
	snap atomic.Pointer[Snapshot]

	mu        sync.Mutex
	subs      []*subscriber
	followers []func(*Snapshot)
}

// Open reads the file. A missing file means defaults and writes nothing. A
// broken one is left as it is: the last good copy is used, or defaults without
// one, and Problems says why. Only a file that others can change is refused,
// with a *PermissionError.
func Open(path string, opts Options) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.LastGoodPath == "" {
		opts.LastGoodPath = path + ".last-good"
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Debounce <= 0 {
		opts.Debounce = 100 * time.Millisecond
	}
	if opts.Poll <= 0 {
		opts.Poll = 2 * time.Second
	}
	if opts.Patience <= 0 {
		opts.Patience = 5 * time.Second
	}
	f := &File{path: path, opts: opts, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	c, err := readFile(path)
	if err != nil {
		return nil, err
	}
	s := f.judge(c)
	switch {
	case s.Valid && s.Exists:
		f.keepGood(c.raw)
	case !s.Valid:
		f.fallBack(s)
	default:
		f.noteMissing(s)
	}
	f.snap.Store(s)
	f.report(s)
	return f, nil
}

// Snapshot returns the current state. It is shared: do not change it.
func (f *File) Snapshot() *Snapshot { return f.snap.Load() }

// Problems is Snapshot().Problems().
func (f *File) Problems() []Problem { return f.Snapshot().Problems() }

// Path is the absolute path of the file.
func (f *File) Path() string { return f.path }

// judge parses and checks a content. An invalid one gets no Config yet.
func (f *File) judge(c content) *Snapshot {
	s := &Snapshot{Path: f.path, Exists: c.exists, Raw: c.raw, Hash: c.hash(), Origin: FromFile, known: f.opts.Sections.known()}
	if !c.exists {
		s.Valid, s.Config, s.Origin = true, f.defaults(), FromDefaults
		return s
	}
	if c.err != nil {
		s.Issues = []Issue{{Message: c.err.Error()}}
		return s
	}
	doc, err := parseObject(c.raw)
	if err != nil {
		s.Issues = []Issue{issueOf(err)}
		if doc, again := parseDoubles(c.raw); again == nil {
			s.part = f.usable(doc)
		}
		return s
	}
	d := f.decoder(doc)
	s.doc, s.Config = doc, d.decode()
	_ = doc.markers(func(p Path, n *node) error {
		d.path = p
		d.issue(n.start, "%s stands for a hidden value; write the value itself", RedactedMarker)
		return nil
	})
	s.Issues, s.Warnings, s.doubtful = d.issues, d.warnings, d.doubts
	s.Valid = len(s.Issues) == 0
	if !s.Valid {
		s.Config = Config{}
		if again, err := parseObject(c.raw); err == nil { // what is wrong is taken out of it
			s.part = f.usable(again)
		}
		return s
	}
	if c.readable && doc.holdsSecrets(s.known) {
		s.Warnings = append(s.Warnings, Issue{Message: "it holds secrets and other users of this machine can read it; run: chmod 600 " +
			text.ShellWord(target(f.path))})
	}
	return s
}

func (f *File) decoder(doc *document) *decoder {
	return &decoder{doc: doc, env: f.opts.Env, sections: f.opts.Sections}
}

// defaults are the settings without a file.
func (f *File) defaults() Config { return Config{Values{f.opts.Sections.bind()}} }

// usable are the settings of a file without what is wrong in it, which has its
// default. A mistake in the rules about tools may have been a ban: then no tool may
// be used until it is corrected. nil when nothing can be used. The document is of no other use afterwards.
func (f *File) usable(doc *document) *Config {
	var banned Path // all keys on the way to a mistake
	for range maxIssues {
		d := f.decoder(doc)
		c := d.decode()
		if len(d.issues) == 0 {
			for _, b := range d.bound {
				if b.strict != nil && slices.Contains(banned, Key(b.at[len(b.at)-1])) {
					b.strict()
				}
			}
			return &c
		}
		for _, p := range d.wrong {
			banned = append(banned, p...)
			doc.drop(p)
		}
	}
	return nil
}

func issueOf(err error) Issue {
	var se *SyntaxError
	if errors.As(err, &se) {
		return Issue{Path: se.Path, Message: se.Reason, Line: se.Line, Column: se.Column}
	}
	return Issue{Message: err.Error()}
}

// fallBack gives a broken start the last good settings, what can be used of the
// file, or defaults: somebody who brings a file from elsewhere has no last good one.
func (f *File) fallBack(s *Snapshot) {
	s.Config, s.Origin = f.defaults(), FromDefaults
	if s.part != nil {
		s.Config, s.Origin = *s.part, FromPart
	}
	c, err := readFile(f.opts.LastGoodPath)
	if err != nil {
		f.opts.Logger.Warn("config: the last good copy is not used", "err", err)
		return
	}
	if good := f.judge(c); c.exists && good.Valid {
		s.Config, s.Origin = good.Config, FromLastGood
	}
}

// noteMissing warns when there once was a file: a lost file should not look
// like a fresh start.
func (f *File) noteMissing(s *Snapshot) {
	if _, err := os.Stat(f.opts.LastGoodPath); err == nil {
		s.Warnings = append(s.Warnings, Issue{Message: "the file is gone and defaults are used; its last good copy is still there, to get it " +
			"back run: cp " +
			text.ShellWord(f.opts.LastGoodPath) + " " + text.ShellWord(f.path)})
	}
}

// keepGood keeps a copy of a content that is in use. It writes only when the
// copy differs, so a normal start costs no write.
func (f *File) keepGood(raw string) {
	if old, err := os.ReadFile(f.opts.LastGoodPath); err == nil && string(old) == raw {
		return
	}
	if err := statedir.WriteFile(f.opts.LastGoodPath, []byte(raw)); err != nil {
		f.opts.Logger.Warn("config: the last good copy could not be kept", "err", err)
	}
}

func (f *File) report(s *Snapshot) {
	for _, p := range s.Problems() {
		f.opts.Logger.Warn(p.Message, "code", p.Code)
	}
	if f.opts.OnChange != nil {
		f.opts.OnChange(s)
	}
	f.mu.Lock()
	followers := slices.Clone(f.followers)
	f.mu.Unlock()
	for _, told := range followers {
		told(s)
	}
}

// take waits for the turn to change something.
func (f *File) take(ctx context.Context) (done func(), err error) {
	select {
	case <-f.turn:
		return func() { f.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Reload reads the file again. Settings that are invalid, or that a subscriber
// refuses, change nothing that runs; the new snapshot says so.
func (f *File) Reload(ctx context.Context) error {
	done, err := f.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	old := f.Snapshot()
	c, err := readFile(f.path)
	if err != nil {
		c.err = err
	}
	next := f.judge(c)
	if !c.exists && old.Origin != FromDefaults {
		next.Valid = false
		next.Issues = []Issue{{Message: f.goneMessage()}}
	}
	if unchanged(old, next) {
		return nil
	}
	if next.Valid {
		if err := f.verify(old.Config, next.Config); err != nil {
			next.Valid = false
			next.Issues = []Issue{{Message: err.Error()}}
		}
	}
	if !next.Valid && !next.mends(old) {
		next.Config, next.Origin = old.Config, FromRunning
		f.snap.Store(next)
		f.report(next)
		return nil
	}
	if next.Exists && next.Valid {
		f.keepGood(next.Raw)
	}
	f.snap.Store(next)
	f.commit(old.Config, next.Config)
	f.report(next)
	return nil
}

func (f *File) goneMessage() string {
	return "the file is gone; save it again, or bring back the last good copy with: cp " +
		text.ShellWord(f.opts.LastGoodPath) + " " + text.ShellWord(f.path)
}

// unchanged: the same bytes and the same verdict need no new snapshot.
func unchanged(a, b *Snapshot) bool {
	if a.Exists != b.Exists || a.Hash != b.Hash || len(a.Issues) != len(b.Issues) || len(a.Warnings) != len(b.Warnings) {
		return false
	}
	for i := range a.Issues {
		if a.Issues[i] != b.Issues[i] {
			return false
		}
	}
	return a.Valid == b.Valid
}
