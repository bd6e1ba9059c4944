package skill

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options of a Library.
type Options struct {
	Managed  string // folder of what was installed
	Bundled  string // folder of what came with Hearth, written by Ship
	LockFile string // beyond the reach of tools
	SeenFile string // likewise: which skills of the owner's folders were there when
	// Write replaces a file as a whole, durably.
	Write func(path string, data []byte) error
	// Snapshots keep what sessions began with; nil: they forget it with a restart.
	Snapshots Snapshots
	// Extra are skills.load.extraDirs now.
	Extra func() []string
	// World is what needs are looked up in, made anew for each look.
	World func() World
	// Watching reports whether changes of files take effect by themselves.
	Watching func() bool
	Debounce func() time.Duration // of the watcher
	Logger   *slog.Logger
	Now      func() time.Time
}

// Library is all skills of this machine.
type Library struct {
	Options
	reader reader
	seen   seen
	ships  map[string]Locked // what came with Hearth, by folder; set by Ship, before anything looks
	ended  chan struct{}     // something that was busy has ended: look again

	install sync.Mutex // one change of what is installed at a time

	mu        sync.Mutex
	version   int64
	lists     map[string]listed   // by workspace
	snapshots map[string]Snapshot // by session id
	order     []string            // of snapshots, the oldest first
}

type listed struct {
	version int64
	skills  []Skill
}

// New returns a library. It reads nothing yet.
func New(o Options) *Library {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Library{Options: o, ended: make(chan struct{}, 1), lists: map[string]listed{}, snapshots: map[string]Snapshot{}}
}

// Roots are the places of an agent, the highest precedence first.
func (l *Library) Roots(workspace string) []Root {
	var out []Root
	if workspace != "" {
		out = append(out, Root{filepath.Join(workspace, "skills"), Workspace})
	}
	out = append(out, Root{l.Managed, Managed}, Root{l.Bundled, Bundled})
	for _, d := range l.Extra() {
		out = append(out, Root{d, Extra})
	}
	return out
}

// Refresh makes the next look read everything again.
func (l *Library) Refresh() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
}

// Reconsider is Refresh where the settings may have changed: other places are
// watched then.
func (l *Library) Reconsider() {
	l.Refresh()
	select {
	case l.ended <- struct{}{}:
	default:
	}
}

// skills are the skills of a workspace, and the version of what was looked at.
func (l *Library) skills(workspace string) ([]Skill, int64) {
	l.mu.Lock()
	version, have := l.version, l.lists[workspace]
	l.mu.Unlock()
	if l.Watching() && have.skills != nil && have.version == version {
		return have.skills, version
	}
	found := l.scan(workspace)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists[workspace] = listed{version, found}
	return found, version
}

// scan reads every place.
func (l *Library) scan(workspace string) []Skill {
	lock, err := ReadLock(l.LockFile)
	lock.shipped = l.ships
	if err != nil {
		l.Logger.Error("skills that were installed are not used", "err", err)
	}
	began := l.look()
	var found []Skill
	for _, root := range l.Roots(workspace) {
		here, err := l.reader.scan(root, lock)
		if err != nil {
			l.Logger.Warn("a folder of skills was not read", "err", err)
			here = []Skill{broken(root.Source, root.Dir, plain(err))}
		}
		found = append(found, here...)
	}
	l.vouch(began, workspace, found)
	return winners(found)
}

// winners are the skills of which each name has one; they come with the highest
// precedence first. What has a problem takes no name.
func winners(found []Skill) []Skill {
	out := []Skill{}
	at := map[string]int{} // folded name to its place in out
	for _, s := range found {
		if s.Problem != "" {
			out = append(out, s)
			continue
		}
		i, taken := at[folded(s.Name)]
		switch {
		case !taken:
			at[folded(s.Name)] = len(out)
			out = append(out, s)
		case out[i].Source == s.Source && filepath.Dir(out[i].Dir) == filepath.Dir(s.Dir):
			s.Problem = "another skill beside it, in " + filepath.Base(out[i].Dir) + ", has the same name"
			out = append(out, s)
		default:
			out[i].Shadowed = append(out[i].Shadowed, s.Dir)
		}
	}
	slices.SortStableFunc(out, func(a, b Skill) int { return strings.Compare(folded(a.Name), folded(b.Name)) })
	return out
}

// Sure reports whether a skill is at this moment still one that may have what is
// kept for its name: files may have changed since they were looked at.
func (l *Library) Sure(s Skill) bool {
	if s.Trust == Shipped || !s.Trusted() {
		return s.Trusted()
	}
	lock, err := ReadLock(l.LockFile)
	if err != nil {
		return false
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	if s.Trust == Confirmed {
		files, err := readFolder(root, ".")
		was, ok := lock.Skills[s.Dir]
		return err == nil && ok && was.differs(files) == ""
	}
	now, err := fingerprint(root, ".")
	return err == nil && now == s.print
}

// List judges all skills of an agent's workspace.
func (l *Library) List(workspace string) []Status {
	found, _ := l.skills(workspace)
	w := l.World()
	out := make([]Status, len(found))
	for i, s := range found {
		out[i] = w.Judge(s)
	}
	return out
}

// ErrNotFound means that there is no skill of a name.
var ErrNotFound = errors.New("there is no skill of this name; `hearth skills list` lists them")

// Find returns the skill of a name or a key.
func (l *Library) Find(workspace, name string) (Status, error) {
	var broken *Status
	for _, s := range l.List(workspace) {
		if folded(s.Name) != folded(name) && s.Key != name {
			continue
		}
		if s.Problem == "" {
			return s, nil
		}
		if broken == nil {
			broken = &s
		}
	}
	if broken != nil {
		return *broken, nil
	}
	return Status{}, ErrNotFound
}

// forOwner is Find for who decides about a skill: one that waits for that comes
// before another that is used under its name.
func (l *Library) forOwner(workspace, name string) (Status, error) {
	for _, s := range l.List(workspace) {
		if (s.Trust == Waiting || s.Trust == Unknown || s.Trust == Changed) && (folded(s.Name) == folded(name) || s.Key == name) {
			return s, nil
		}
	}
	return l.Find(workspace, name)
}

// Holds reports whether a file belongs to a skill that was found, so that it
// may be read without asking. path is absolute and without links.
func (l *Library) Holds(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range l.lists {
		for _, s := range list.skills {
			if s.Problem == "" && strings.HasPrefix(path, s.Dir+string(filepath.Separator)) {
				return true
			}
		}
	}
	return false
}

// Bins are the programs that skills ask for.
func (l *Library) Bins(workspace string) []string {
	set := map[string]bool{}
	for _, s := range l.List(workspace) {
		if s.Problem != "" {
			continue
		}
		for _, b := range slices.Concat(s.Requires.Bins, s.Requires.AnyBins) {
			set[b] = true
		}
		for _, i := range s.Install {
			for _, b := range i.Bins {
				set[b] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}
