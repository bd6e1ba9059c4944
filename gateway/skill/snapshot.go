package skill

import (
	"encoding/json"
	"fmt"
	"slices"
)

// maxSnapshots is how many sessions are remembered.
const maxSnapshots = 2000

// Snapshots keep what sessions began with, so that a restart changes nothing.
type Snapshots interface {
	Load(key string) ([]byte, error) // nil: there is none
	Save(key string, raw []byte) error
}

// Snapshot is what a session knows of skills.
type Snapshot struct {
	Skills  []Status // eligible ones
	version int64
}

// Session returns the skills of a session. They stay those of its beginning, over
// a restart too; while files are watched, a change comes in with the next turn.
// One that has to be trusted first, or is gone, is in none.
func (l *Library) Session(id, workspace string) Snapshot {
	key := id + "\x00" + workspace
	watching := l.Watching()
	l.mu.Lock()
	have, ok := l.snapshots[key]
	fresh := ok && (!watching || have.version == l.version)
	l.mu.Unlock()
	if fresh {
		return l.usable(have)
	}
	found, version := l.skills(workspace)
	made := Snapshot{version: version}
	kept := false
	if !watching {
		made.Skills, kept = l.kept(key, found)
	}
	if !kept {
		w := l.World()
		for _, s := range found {
			if st := w.Judge(s); st.Eligible() {
				made.Skills = append(made.Skills, st)
			}
		}
	}
	if !watching && !kept {
		l.write(key, made)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.snapshots[key]; !known {
		l.order = append(l.order, key)
		if len(l.order) > maxSnapshots {
			delete(l.snapshots, l.order[0])
			l.order = slices.Delete(l.order, 0, 1)
		}
	}
	l.snapshots[key] = made
	return made
}

// kept is what a session began with before a restart, of what is still there and
// may be used.
func (l *Library) kept(key string, found []Skill) (out []Status, ok bool) {
	if l.Snapshots == nil {
		return nil, false
	}
	raw, err := l.Snapshots.Load(key)
	var was []Skill
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &was)
	}
	if err != nil {
		l.Logger.Warn("the skills that a session began with are taken anew", "err", err)
	}
	if err != nil || raw == nil {
		return nil, false
	}
	for _, s := range was {
		i := slices.IndexFunc(found, func(f Skill) bool { return f.Dir == s.Dir && f.Problem == "" })
		if i < 0 {
			continue
		}
		now := found[i]
		now.Spec = s.Spec
		out = append(out, Status{Skill: now})
	}
	return out, true
}

func (l *Library) write(key string, s Snapshot) {
	if l.Snapshots == nil {
		return
	}
	skills := make([]Skill, len(s.Skills))
	for i, st := range s.Skills {
		skills[i] = st.Skill
	}
	raw, err := json.Marshal(skills)
	if err == nil {
		err = l.Snapshots.Save(key, raw)
	}
	if err != nil {
		l.Logger.Warn("the skills that a session begins with could not be kept", "err", fmt.Errorf("keep a list of skills: %w", err))
	}
}

// usable leaves out what waits for the owner by now.
func (l *Library) usable(s Snapshot) Snapshot {
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	if len(l.seen.kept.New) == 0 {
		return s
	}
	s.Skills = slices.DeleteFunc(slices.Clone(s.Skills), func(st Status) bool {
		return l.seen.kept.New[st.Dir] != "" &&
			st.Trust != Confirmed
	})
	return s
}
