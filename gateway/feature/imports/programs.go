package imports

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/chatgpt"
	"github.com/hearth-assistant/hearth/gateway/imports/claude"
	"github.com/hearth-assistant/hearth/gateway/imports/claudedesktop"
	"github.com/hearth-assistant/hearth/gateway/imports/hermes"
	"github.com/hearth-assistant/hearth/gateway/imports/openclaw"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// program is one that can be imported from.
type program struct {
	id, name, takes string
	places          []string // below the person's folder; none: wherever it was saved
	variable        string   // that names its folder
	fits            func(t *source.Tree) bool
	read            func(ctx context.Context, t *source.Tree, give imports.Give) error
}

// programs is the one list of them.
func programs() []program {
	oc, mi := openclaw.OpenClaw(config.Standard), openclaw.Milaidy(config.Standard)
	everything := "chats, memory, files, skills, jobs, MCP servers, keys, people, settings"
	return []program{
		{"openclaw", "OpenClaw", everything, []string{".openclaw", ".clawdbot", ".moltbot"}, "OPENCLAW_STATE_DIR", oc.Fits, oc.Read},
		{"milaidy", "Milaidy", everything, []string{".milaidy"}, "MILAIDY_STATE_DIR", mi.Fits, mi.Read},
		{"hermes", "Hermes", "chats, memory, skills, jobs, MCP servers, keys", []string{".hermes"}, "HERMES_HOME", hermes.Fits, hermes.Read},
		{"claude-desktop", "Claude Desktop", "MCP servers", claudePlaces(), "", claudedesktop.Fits, claudedesktop.Read},
		{"chatgpt", "ChatGPT", "chats, from the export of an account", nil, "", chatgpt.Fits, chatgpt.Read},
		{"claude", "Claude", "chats and memory, from the export of an account", nil, "", claude.Fits, claude.Read},
	}
}

func claudePlaces() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"Library/Application Support/Claude/" + claudedesktop.FileName}
	case "windows":
		return []string{"AppData/Roaming/Claude/" + claudedesktop.FileName}
	}
	return []string{".config/Claude/" + claudedesktop.FileName}
}

// find is where a program keeps its things on this computer, "" when it is not
// here.
func (f *feature) find(p program) (string, bool) {
	var at []string
	if p.variable != "" && f.Env(p.variable) != "" {
		at = append(at, f.Env(p.variable))
	}
	for _, rel := range p.places {
		at = append(at, filepath.Join(statedir.Home(f.Env), filepath.FromSlash(rel)))
	}
	for _, path := range at {
		if t, err := source.Open(path, f.scratch()); err == nil {
			fits := p.fits(t)
			if t.Close() == nil && fits {
				return path, true
			}
		}
	}
	return "", false
}

// choose opens what was asked for, and says whose it is.
func (f *feature) choose(p protocol.ImportParams) (program, *source.Tree, error) {
	list := programs()
	if p.From != "" {
		i := slices.IndexFunc(list, func(o program) bool { return o.id == p.From })
		if i < 0 {
			return program{}, nil, protocol.Invalid("Hearth cannot import from %q. It can from %s.", p.From, names(list))
		}
		list = list[i : i+1]
	}
	if p.Path == "" {
		return f.here(list)
	}
	if !filepath.IsAbs(p.Path) {
		return program{}, nil, protocol.Invalid("%q is not a whole path; it begins with the top folder.", p.Path)
	}
	t, err := source.Open(filepath.Clean(p.Path), f.scratch())
	if err != nil {
		return program{}, nil, err
	}
	for _, o := range list {
		if o.fits(t) {
			return o, t, nil
		}
	}
	_ = t.Close()
	if p.From != "" {
		return program{}, nil, fmt.Errorf("%s does not look like what %s leaves; see docs/import.md for what to give", p.Path, list[0].name)
	}
	return program{}, nil, fmt.Errorf("%s is of no program that Hearth knows (%s); name the program too if it is", p.Path, names(list))
}

// here opens the first program of a list that is on this computer.
func (f *feature) here(list []program) (program, *source.Tree, error) {
	for _, o := range list {
		if path, ok := f.find(o); ok {
			t, err := source.Open(path, f.scratch())
			return o, t, err
		}
	}
	return program{}, nil, fmt.Errorf("nothing of %s was found on this computer; give the path of its folder or export", names(list))
}

func names(list []program) string {
	var out []string
	for _, p := range list {
		out = append(out, p.name)
	}
	return strings.Join(out, ", ")
}
