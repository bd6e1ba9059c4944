package lookup

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
)

// Configured says where keys, tokens and passwords are kept and found.
type Configured struct {
	Backend   string            // one of package keeper's places
	Providers map[string]Source // by name
	Defaults  map[string]string // source → provider
}

// Source is a named source for references.
type Source struct {
	Kind      string // secret.SourceEnv, SourceFile, SourceExec
	Path      string
	Mode      string // of a file: singleValue, json
	Command   string
	Args      []string
	PassEnv   []string
	Allowlist []string // of env
	TimeoutMs int
	MaxBytes  int
}

// Section are the settings of secrets.
var Section = &config.Settings[Configured]{
	Path:    "secrets",
	Default: Configured{Backend: keeper.Auto},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Choice{
				Key: "backend", To: &c.Backend, Among: places(), Read: backend,
				Help: "where Hearth keeps keys: `keychain` (of the system), `vault` (a file under a passphrase), `plain` (a private file that all " +
					"your programs can read). `auto` is the vault once there is one, else the keychain, and never `plain`",
			},
			config.Map[Source]{
				Key: "providers", To: &c.Providers, Name: "<id>", Is: sourceName,
				One: func(_ string, s *Source) config.Field { return config.Object{Fields: s.fields(), Check: s.check} },
			},
			config.Map[string]{
				Key: "defaults", To: &c.Defaults, Name: "<source>",
				One: func(_ string, provider *string) config.Field {
					return config.Text{To: provider, Max: 64, Help: "the provider that references without one mean"}
				},
			},
			config.Later("resolution"),
		}
	},
}

func places() []string { return []string{keeper.Auto, keeper.Keychain, keeper.Vault, keeper.Plain} }

func backend(v config.Value) string {
	place := v.Choice(places()...)
	if place == keeper.Plain {
		v.Warn("with \"plain\" every program that you run can read your keys; \"auto\" uses the system's keychain, \"vault\" a passphrase")
	}
	return place
}

func sourceName(s string) error {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	if s == "" || len(s) > 64 || strings.ContainsFunc(strings.ToLower(s), odd) {
		return errors.New("the name of a provider has 1 to 64 letters, digits, - and _")
	}
	return nil
}

func (s *Source) fields() []config.Field {
	words := func(key string, to *[]string, help string, hint config.Hint) config.Field {
		return config.Texts{Key: key, To: to, Empty: true, Unset: true, Help: help, Hint: hint}
	}
	most := config.Number{
		Key: "maxBytes", To: &s.MaxBytes, Min: 1, Max: 20 << 20, Help: "how long a secret may be", Hint: config.Hint{Default: "1 MiB"},
	}
	return []config.Field{
		config.Choice{
			Key: "source", To: &s.Kind, Among: []string{secret.SourceEnv, secret.SourceFile, secret.SourceExec}, Help: "`env`, `file` or `exec`",
		},
		config.Text{Key: "path", To: &s.Path, Help: "a private file"},
		config.Choice{
			Key: "mode", To: &s.Mode, Among: []string{"singleValue", "json"}, Hint: config.Hint{Default: "`json`"},
			Help: "`singleValue`: the whole file is the secret, `json`: `id` is a place like `/openai/key`",
		},
		config.Text{
			Key: "command", To: &s.Command,
			Help: "a program by its whole path. It gets `{\"protocolVersion\":1,\"provider\":…,\"ids\":[…]}` and answers " +
				"`{\"protocolVersion\":1,\"values\":{…}}` or the secret itself",
		},
		words("args", &s.Args, "what the program is started with", config.Hint{}),
		words("passEnv", &s.PassEnv, "variables that it gets", config.Hint{}),
		words("allowlist", &s.Allowlist, "which environment variables may be asked for", config.Hint{Default: "all"}),
		config.Number{
			Key: "timeoutMs", To: &s.TimeoutMs, Min: 1, Max: 120_000, Help: "how long it may take", Hint: config.Hint{Default: "10000"},
		},
		most,
		config.Alias("maxOutputBytes", most),
		config.Later("jsonOnly", "env", "trustedDirs", "allowInsecurePath", "allowSymlinkCommand", "noOutputTimeoutMs"),
	}
}

func (s *Source) check() error {
	switch {
	case s.Kind == "":
		return errors.New("source is missing; it is env, file or exec")
	case s.Kind == secret.SourceFile && s.Path == "":
		return errors.New("path is missing: which file holds the secrets?")
	case s.Kind == secret.SourceExec && !filepath.IsAbs(s.Command):
		return errors.New("command must be the whole path of a program, for example /usr/bin/pass")
	}
	return nil
}
