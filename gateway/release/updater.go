package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Build is what a program knows of itself as a release.
type Build struct {
	Source  string // where releases come from, an address; "" for none
	Keys    string // see ParseAnchor; "" for none
	Program string // its own file, links followed; "" where it is not known
}

// ErrNoSource: nobody publishes releases for this build.
var ErrNoSource = errors.New("this build of Hearth has no source of updates: nobody signs releases for it. To update, install the new " +
	"version over this one as it was installed; your data stays. Whoever publishes builds of their own names a source and its key with " +
	"update.source and update.key, see docs/update.md")

// Where says which source and keys hold: the build's own, or the settings' where the
// build has none. The settings may name another place for the same keys, as a copy
// nearby; they never replace keys that were built in.
func (b Build) Where(source, key string) (*Source, Anchor, error) {
	if b.Keys != "" {
		key = b.Keys
	}
	if source == "" {
		source = b.Source
	}
	if source == "" || key == "" {
		return nil, Anchor{}, ErrNoSource
	}
	a, err := ParseAnchor(key)
	if err != nil {
		return nil, a, fmt.Errorf("the root key of updates: %w", err)
	}
	s, err := NewSource(source)
	return s, a, err
}

// Phases of an update.
const (
	PhaseStaging    = "staging"    // brings and unpacks it
	PhaseValidating = "validating" // tries it on a copy
	PhaseRestarting = "restarting" // hands over
)

// Progress is how far an update is; Total is 0 where that is not counted.
type Progress struct {
	Phase       string
	Have, Total int64
}

// Updater gets a version and makes everything ready for it, short of ending the one
// that runs.
type Updater struct {
	Dir     statedir.Dir
	Install Install
	Version string // that runs
	Source  *Source
	Anchor  Anchor
	Channel string
	Env     func(string) string
	Now     func() time.Time
	// Paused says why nothing may be fetched now; nil: it may.
	Paused func() error
	// Copy writes the store as it is now to a path.
	Copy     func(ctx context.Context, path string) error
	Settings []byte // hearth.json; nil for none
	Count    func(path string) (int, error)
	Told     func(Progress)
}

func (u Updater) told(p Progress) {
	if u.Told != nil {
		u.Told(p)
	}
}

// Check looks what there is, keeps what was learnt, and returns the newest release;
// newer says whether it is one for this program.
func (u Updater) Check(ctx context.Context) (m Manifest, newer bool, err error) {
	if err := u.Paused(); err != nil {
		return m, false, err
	}
	st, err := Read(u.Dir)
	if err != nil {
		return m, false, err
	}
	m, t, err := u.Source.Look(ctx, u.Anchor, st.Known(u.Anchor), u.Channel, st.SeenOf(u.Anchor, u.Channel), u.Now())
	c := &Checked{At: u.Now(), Channel: u.Channel, Version: m.Version, Notes: m.Notes}
	if err != nil {
		c.Error = err.Error()
	}
	_, kerr := Change(u.Dir, func(s *State) {
		if err != nil {
			s.Saw(u.Anchor, t, nil)
		} else {
			s.Saw(u.Anchor, t, &m)
		}
		s.Checked = c
	})
	if err == nil {
		err = kerr
	}
	return m, Newer(m.Version, u.Version), err
}

// Prepare brings a release, tries it on a copy, keeps a copy of the store, and notes
// that it is on trial: whoever starts next, starts it.
func (u Updater) Prepare(ctx context.Context, m Manifest) error {
	if err := u.Install.Updatable(u.Env); err != nil {
		return err
	}
	if err := u.Paused(); err != nil {
		return err
	}
	f, err := m.For(runtime.GOOS, runtime.GOARCH, u.Install.Kind())
	if err != nil {
		return err
	}
	if err := u.bring(ctx, m, f); err != nil {
		return err
	}
	u.told(Progress{Phase: PhaseValidating})
	before := BeforeUpdate(u.Dir)
	if _, err := os.Stat(u.Dir.Store()); errors.Is(err, fs.ErrNotExist) {
		before = ""
	} else if err := u.Copy(ctx, before); err != nil {
		return fmt.Errorf("keep a copy of the store: %w; nothing was changed", err)
	}
	failpoint.Hit("update:copied")
	err = Rehearse(ctx, Rehearsal{
		Program: u.Install.Program(m.Version, "hearth"), Version: m.Version, Dir: u.Dir, Copy: before, Settings: u.Settings, Count: u.Count,
		Within: Health(),
	})
	if err != nil {
		return fmt.Errorf("%w. Nothing was changed; you go on with %s", err, u.Version)
	}
	failpoint.Hit("update:rehearsed")
	_, err = Change(u.Dir, func(s *State) {
		s.Exchange = nil
		s.Trial = &Trial{From: u.Version, To: m.Version, Root: u.Install.Root, Began: u.Now(), Copy: before}
		s.Back = nil
	})
	failpoint.Hit("update:noted")
	return err
}

// bring downloads and unpacks a release, and removes what is not needed any more.
func (u Updater) bring(ctx context.Context, m Manifest, f File) error {
	into, err := u.Install.Downloads()
	if err != nil {
		return fmt.Errorf("make room for the download: %w", err)
	}
	if err := u.Install.Keep(u.Version, m.Version); err != nil {
		return fmt.Errorf("remove versions that are not needed any more: %w", err)
	}
	if err := room(into, f); err != nil {
		return err
	}
	u.told(Progress{PhaseStaging, 0, f.Size})
	archive, err := u.Source.Download(ctx, f, into, func(have int64) { u.told(Progress{PhaseStaging, have, f.Size}) })
	if err != nil {
		return err
	}
	if err := u.Install.Stage(ctx, archive, m.Version, f); err != nil {
		return err
	}
	return u.Install.Forget()
}

// room refuses what does not fit, before the disk is filled with it.
func room(folder string, f File) error {
	need := f.Size
	for _, p := range f.Programs {
		need += p.Size
	}
	if free, ok := statedir.Dir(folder).Free(); ok && free < need+statedir.Full {
		return fmt.Errorf("the update needs %d MB and there are %d MB free; nothing was changed. Make room, then try again",
			(need+statedir.Full)>>20, free>>20)
	}
	return nil
}

// Failure notes an update that changed nothing.
func Failure(dir statedir.Dir, from, to string, now time.Time, why error) {
	_, _ = Change(dir, func(s *State) {
		s.Last = &Outcome{At: now, From: from, To: to, Result: Failed, Reason: why.Error()}
	})
}

// Stopped is the store while no gateway runs: whether Hearth is paused, and a copy.
type Stopped struct {
	db    *store.DB
	pause *pause.Switch
}

// OpenStopped opens the store of a folder, where there is one.
func OpenStopped(ctx context.Context, dir statedir.Dir, now func() time.Time) (*Stopped, error) {
	if _, err := os.Stat(dir.Store()); errors.Is(err, fs.ErrNotExist) {
		return &Stopped{}, nil
	}
	db, err := store.Open(dir.Store(), store.Options{})
	if err != nil {
		return nil, err
	}
	p, err := pause.Open(db, now)
	if err != nil {
		_ = db.Close(ctx)
		return nil, err
	}
	return &Stopped{db, p}, nil
}

// Paused says why nothing may be fetched now.
func (s *Stopped) Paused() error {
	if s.pause == nil {
		return nil
	}
	return PausedBy(s.pause)
}

// Copy writes the store to a path.
func (s *Stopped) Copy(ctx context.Context, path string) error { return s.db.Copy(ctx, path) }

// Close lets go of the store.
func (s *Stopped) Close(ctx context.Context) error {
	if s.db == nil {
		return nil
	}
	s.pause.Close()
	return s.db.Close(ctx)
}

// PausedBy is the pause of the network, as an error.
func PausedBy(p *pause.Switch) error {
	st := p.Get()
	if st.Level != pause.Network && st.Level != pause.Everything {
		return nil
	}
	return fmt.Errorf("Hearth is paused (%s), so it fetches nothing; `hearth resume` ends that", st.Level)
}
