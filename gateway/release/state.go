package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const (
	// HealthTime is how long a new version may take until it answers.
	HealthTime = 60 * time.Second
	// CrashTime and CrashLimit: as many crashes within that time take it back.
	CrashTime  = 5 * time.Minute
	CrashLimit = 3
	// BackTime is how long the version before is kept to go back to.
	BackTime = 14 * 24 * time.Hour
)

// State is what is known of updates, in a file of the state folder. It is not in the
// store: going back to an older store must not forget what was seen of a source.
type State struct {
	Format int `json:"format"`
	// Seen is the highest sequence of each channel that was verified.
	Seen map[string]int64 `json:"seen,omitempty"`
	// Anchor is what Trust was followed from; a build with other keys begins anew.
	Anchor string `json:"anchor,omitempty"`
	Trust  *Trust `json:"trust,omitempty"`

	Checked *Checked `json:"checked,omitempty"`
	Trial   *Trial   `json:"trial,omitempty"`
	Back    *Back    `json:"back,omitempty"`
	Going   *Going   `json:"going,omitempty"`
	// Exchange is written before an older store takes the place of a newer one.
	Exchange *Exchange `json:"exchange,omitempty"`
	Last     *Outcome  `json:"last,omitempty"`
	// Bad are versions that did not pass, and why; they are not offered again by
	// themselves.
	Bad map[string]string `json:"bad,omitempty"`
}

// Checked is the last look at the source.
type Checked struct {
	At      time.Time `json:"at"`
	Channel string    `json:"channel"`
	Version string    `json:"version,omitempty"` // the newest that there is
	Notes   string    `json:"notes,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// Trial is a new version that has to prove itself.
type Trial struct {
	From    string      `json:"from"`
	To      string      `json:"to"`
	Root    string      `json:"root"` // of the installation
	Began   time.Time   `json:"began"`
	Starts  int         `json:"starts,omitempty"` // since it last was healthy
	Healthy time.Time   `json:"healthy,omitzero"` // first time
	Crashes []time.Time `json:"crashes,omitempty"`
	// Copy is the store as it was before the new version began.
	Copy string `json:"copy,omitempty"`
}

// Back is what a person can go back to.
type Back struct {
	Version string    `json:"version"`
	From    string    `json:"from"` // the version that replaced it
	Until   time.Time `json:"until"`
	Copy    string    `json:"copy,omitempty"`
}

// Going is that a person goes back; what starts next does the rest.
type Going struct {
	From string `json:"from"`
	To   string `json:"to"`
	Root string `json:"root"`
	Copy string `json:"copy,omitempty"`
}

// Exchange is what has to be told of an exchange of stores, and with what it is done,
// when who did it was stopped within it.
type Exchange struct {
	From string `json:"from"` // the older store's copy
	Kept string `json:"kept"` // where the newer one is from then on
	Lost int    `json:"lost,omitempty"`
}

// Outcomes.
const (
	Updated    = "updated"
	RolledBack = "rolled-back"
	WentBack   = "went-back" // its person wanted that
	Failed     = "failed"    // nothing was changed
)

// Outcome is how the last update ended.
type Outcome struct {
	At     time.Time `json:"at"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Result string    `json:"result"`
	Reason string    `json:"reason,omitempty"`
	// Kept is the store of the newer version, where the older one could not go on
	// with it; Lost is how many messages are in it and not in the one that is used.
	Kept string `json:"kept,omitempty"`
	Lost int    `json:"lost,omitempty"`
}

func stateFile(dir statedir.Dir) string { return filepath.Join(string(dir), "update.json") }

// Read returns what is known; a folder where nothing is gives the empty State.
func Read(dir statedir.Dir) (State, error) {
	s := State{Format: 1}
	b, err := os.ReadFile(stateFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read what is known of updates: %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return State{Format: 1}, fmt.Errorf("%s cannot be read (%w); remove it if no update is under way", stateFile(dir), err)
	}
	return s, nil
}

// Change edits what is known, as a whole or not at all.
func Change(dir statedir.Dir, edit func(*State)) (State, error) {
	s, err := Read(dir)
	if err != nil {
		return s, err
	}
	edit(&s)
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return s, err
	}
	if err := statedir.WriteFile(stateFile(dir), append(b, '\n')); err != nil {
		return s, fmt.Errorf("keep what is known of updates: %w", err)
	}
	return s, nil
}

// Known is the list of keys that was verified before, for a build's own keys.
func (s *State) Known(a Anchor) *Trust {
	if s.Anchor != a.String() {
		return nil
	}
	return s.Trust
}

// SeenOf is the highest sequence of a channel, for a build's own keys.
func (s *State) SeenOf(a Anchor, channel string) int64 {
	if s.Anchor != a.String() {
		return 0
	}
	return s.Seen[channel]
}

// Saw keeps what was verified. t is what holds now; m is nil when nothing new is
// believed.
func (s *State) Saw(a Anchor, t Trust, m *Manifest) {
	if s.Anchor != a.String() {
		s.Anchor, s.Seen = a.String(), nil
	}
	if t.Serial > 0 {
		s.Trust = &t
	}
	if m == nil {
		return
	}
	if s.Seen == nil {
		s.Seen = map[string]int64{}
	}
	s.Seen[m.Channel] = max(s.Seen[m.Channel], m.Sequence)
}

// Crash notes that the new version ended by itself, and reports whether that was
// once too often.
func (t *Trial) Crash(now time.Time) (enough bool) {
	recent := []time.Time{now}
	for _, c := range t.Crashes {
		if now.Sub(c) < CrashTime && !c.After(now) {
			recent = append(recent, c)
		}
	}
	t.Crashes = recent
	return len(recent) >= CrashLimit
}

// Begin notes a start, and reports whether there were too many that never became
// healthy, as when the power fails again and again.
func (t *Trial) Begin() (enough bool) {
	t.Starts++
	return t.Starts > CrashLimit+1
}

// Passed keeps the new version.
func (s *State) Passed(now time.Time) {
	t := s.Trial
	if t == nil {
		return
	}
	s.Back = &Back{Version: t.From, From: t.To, Until: now.Add(BackTime), Copy: t.Copy}
	s.Last = &Outcome{At: now, From: t.From, To: t.To, Result: Updated}
	delete(s.Bad, t.To)
	s.Trial, s.Exchange = nil, nil
}

// GoBack notes that a person goes back to the version before, and returns which that
// is. During a trial that is the one it would be taken back to.
func GoBack(dir statedir.Dir, i Install, version string, now time.Time) (to string, err error) {
	st, err := Read(dir)
	if err != nil {
		return "", err
	}
	g := &Going{From: version, Root: i.Root}
	switch {
	case st.Trial != nil && st.Trial.To == version && st.Trial.Root == i.Root:
		g.To, g.Copy = st.Trial.From, st.Trial.Copy
	case st.Back == nil || st.Back.From != version:
		return "", fmt.Errorf("there is no version before %s to go back to", version)
	case now.After(st.Back.Until):
		return "", fmt.Errorf("%s could be gone back to until %s; it was removed since, or is no longer safe to use. Install it by hand if "+
			"you need it", st.Back.Version, day(st.Back.Until))
	default:
		g.To, g.Copy = st.Back.Version, st.Back.Copy
	}
	if !i.Has(g.To) {
		return "", fmt.Errorf("the programs of %s are not there any more (%s)", g.To, i.folder(g.To))
	}
	_, err = Change(dir, func(s *State) { s.Going, s.Trial, s.Exchange = g, nil, nil })
	return g.To, err
}

// Gone ends a going back.
func (s *State) Gone(now time.Time, kept string, lost int) {
	g := s.Going
	if g == nil {
		return
	}
	if s.Bad == nil {
		s.Bad = map[string]string{}
	}
	s.Bad[g.From] = "you went back from it"
	s.Last = &Outcome{At: now, From: g.From, To: g.To, Result: WentBack, Kept: kept, Lost: lost}
	s.Going, s.Trial, s.Back, s.Exchange = nil, nil, nil, nil
}

// TakenBack ends the trial with the old version.
func (s *State) TakenBack(now time.Time, reason, kept string, lost int) {
	t := s.Trial
	if t == nil {
		return
	}
	if s.Bad == nil {
		s.Bad = map[string]string{}
	}
	s.Bad[t.To] = reason
	s.Last = &Outcome{At: now, From: t.From, To: t.To, Result: RolledBack, Reason: reason, Kept: kept, Lost: lost}
	s.Trial, s.Back, s.Exchange = nil, nil, nil
}

// Health is HealthTime, and Watch how long a new version is watched once it
// answers; tests make them short.
func Health() time.Duration { return failpoint.Duration("update:health", HealthTime) }
func Watch() time.Duration  { return failpoint.Duration("update:watch", CrashTime) }
