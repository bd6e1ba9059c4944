package hooks

import "github.com/hearth-assistant/hearth/gateway/config"

// Internal are handlers: programs and scripts of the person that are told what
// happens here.
type Internal struct {
	Enabled   *bool            // nil: yes, as far as there are Entries
	Entries   map[string]Entry // by the hook's key
	ExtraDirs []string
}

// Entry is about one of them.
type Entry struct {
	Enabled *bool // nil: no
	// SHA256 is of the files that the person has seen; with others it does not run.
	SHA256         string
	TimeoutSeconds int // 0: as usual
	Env            map[string]config.Secret
	// Options are the other keys of the entry as JSON: the hook's own, shown to nobody
	// but the hook.
	Options []byte
}

// On reports whether handlers are told at all. Each is only when it is enabled by
// name.
func (i Internal) On() bool { return i.Enabled == nil || *i.Enabled }

// InternalSection are the settings of handlers.
var InternalSection = &config.Settings[Internal]{
	Path: "hooks.internal",
	Fields: func(i *Internal) []config.Field {
		return []config.Field{
			config.Maybe{
				Key: "enabled", To: &i.Enabled, Help: "`false`: no hook is told anything", Hint: config.Hint{Default: "`true`"},
			},
			config.Map[Entry]{
				Key: "entries", To: &i.Entries, Name: "<hook>", One: func(_ string, e *Entry) config.Field { return e.field() },
				Help: "what is said to one hook; keys that do not stand here are the hook's own",
			},
			config.Object{Key: "load", Fields: []config.Field{
				config.Texts{Key: "extraDirs", To: &i.ExtraDirs, Is: config.Folder, Unset: true, Help: "more folders of hooks; list of paths"},
			}},
			config.Later("installs", "handlers"),
		}
	},
}

func (e *Entry) field() config.Field {
	return config.Object{
		Rest: &e.Options,
		Fields: []config.Field{
			config.Maybe{
				Key: "enabled", To: &e.Enabled, Help: "whether the hook is told; `hearth hooks enable` writes it",
				Hint: config.Hint{Default: "`false`"},
			},
			config.Text{
				Key: "sha256", To: &e.SHA256, Max: 64, Help: "the files that you have seen, written by `hearth hooks enable`: with others it does " +
					"not run",
			},
			config.Number{
				Key: "timeoutSeconds", To: &e.TimeoutSeconds, Min: 1, Max: 300, Help: "how long a program or script may take",
				Hint: config.Hint{Default: "10"},
			},
			config.Map[config.Secret]{
				Key: "env", To: &e.Env, Is: config.VariableName, Help: "variables for the hook; values may be secrets",
				One: func(_ string, to *config.Secret) config.Field { return config.Hidden{To: to, Perhaps: true} },
			},
		},
	}
}
