// Package openclaw reads the folder of an OpenClaw installation: its settings,
// sessions (JSONL files until 2026.6, SQLite from 2026.7 on), workspaces, skills,
// jobs, people who were let in, and keys of model services. Milaidy's folder has
// the same shapes under other names. docs/import.md says what is not taken, and
// why.
package openclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

// Limits of single files.
const (
	maxSettings = 4 << 20
	maxList     = 32 << 20 // sessions.json, jobs.json
)

// Layout is what the files of a program of this family are called.
type Layout struct {
	Settings []string // its file of settings, under any of these names
	State    string   // its database, "" where it has none
	Agent    string   // the database of an agent
	// Plain makes standard JSON of its settings.
	Plain func(raw string) (json.RawMessage, error)
}

// OpenClaw is the layout of OpenClaw.
func OpenClaw(plain func(raw string) (json.RawMessage, error)) Layout {
	return Layout{
		Settings: []string{"openclaw.json", "clawdbot.json", "moltbot.json"},
		State:    "state/openclaw.sqlite", Agent: "agent/openclaw-agent.sqlite", Plain: plain,
	}
}

// Milaidy is the layout of Milaidy.
func Milaidy(plain func(raw string) (json.RawMessage, error)) Layout {
	return Layout{Settings: []string{"milaidy.json", "milady.json"}, Plain: plain}
}

// Fits reports whether a folder looks like one of these.
func (l Layout) Fits(t *source.Tree) bool {
	return l.settings(t) != "" || l.State != "" && t.Has(l.State) || len(l.agents(t)) > 0
}

func (l Layout) settings(t *source.Tree) string {
	i := slices.IndexFunc(l.Settings, t.Has)
	if i < 0 {
		return ""
	}
	return l.Settings[i]
}

// home is one folder that is being read.
type home struct {
	Layout
	t    *source.Tree
	give imports.Give

	db    *sqlite.File      // of the state; nil: there is none
	env   map[string]string // variables that are set beside the settings
	own   map[string]string // those of them that the settings set themselves
	text  string            // the settings
	roots []workspace
	has   map[string]bool // keys that were handed over: program's two places may hold the same
}

// workspace is an agent's folder of files, below the home.
type workspace struct{ agent, dir string }

// Read hands over everything, the chats last.
func (l Layout) Read(ctx context.Context, t *source.Tree, give imports.Give) error {
	h := &home{Layout: l, t: t, give: give, has: map[string]bool{}}
	if l.State != "" && t.Has(l.State) {
		db, closeDB, err := t.Database(ctx, l.State)
		if err != nil {
			return err
		}
		defer closeDB()
		h.db = db
	}
	for _, step := range []func(context.Context) error{
		h.readSettings, h.readKeys, h.readPeople, h.readWorkspaces, h.readSkills, h.readJobs, h.readChats, h.readRest,
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// agents are the names of the agents that have a folder.
func (l Layout) agents(t *source.Tree) (out []string) {
	for _, name := range t.Folders("agents") {
		if len(t.Folders("agents/"+name)) > 0 {
			out = append(out, name)
		}
	}
	return out
}

// rows calls fn with the rows of a table of the state; none when there is no such
// table.
func (h *home) rows(table string, fn func(*sqlite.Row) error) error {
	if h.db == nil || h.db.Table(table) == nil {
		return nil
	}
	return each(h.db, table, fn)
}

func each(db *sqlite.File, table string, fn func(*sqlite.Row) error) error {
	for row, err := range db.Rows(table) {
		if err == nil {
			err = errors.Join(fn(row), row.Err())
		}
		if err != nil {
			return fmt.Errorf("read the table %s: %w", table, err)
		}
	}
	return nil
}

// skip passes over folders that hold nothing of a person.
func skip(name string) bool {
	base := path.Base(name)
	return base == ".git" || base == "node_modules" || base == ".venv" || base == "__pycache__" || base == ".cache"
}

// gone reports whether a file is simply not there.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
