package hooks

import "github.com/hearth-assistant/hearth/gateway/config"

// Internal are programs of the person that are told what happens here.
type Internal struct {
	Enabled   *bool            // nil: when there are Entries or ExtraDirs
	Entries   map[string]Entry // by the hook's key
	ExtraDirs []string
}

// Entry is about one of them.
type Entry struct {
	Enabled *bool // nil: yes
	Env     map[string]config.Secret
	// Options are the other keys of the entry as JSON: the hook's own, shown to nobody
	// but the hook.
	Options []byte
}

// On reports whether programs are told at all.
func (i Internal) On() bool {
	if i.Enabled != nil {
		return *i.Enabled
	}
	return len(i.Entries) > 0 || len(i.ExtraDirs) > 0
}

// InternalSection are the settings of these programs.
var InternalSection = &config.Settings[Internal]{
	Path: "hooks.internal",
	Fields: func(i *Internal) []config.Field {
		return []config.Field{
			config.Maybe{
				Key: "enabled", To: &i.Enabled, Help: "whether programs are told at all",
				Hint: config.Hint{Default: "`true` when there are `entries` or `load.extraDirs`"},
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
			config.Maybe{Key: "enabled", To: &e.Enabled, Help: "whether the hook is told", Hint: config.Hint{Default: "`true`"}},
			config.Map[config.Secret]{
				Key: "env", To: &e.Env, Is: config.VariableName, Help: "variables for the hook; values may be secrets",
				One: func(_ string, to *config.Secret) config.Field { return config.Hidden{To: to, Perhaps: true} },
			},
		},
	}
}
