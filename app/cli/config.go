package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sections"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const pathHelp = `A path names one setting: gateway.port, agents.defaults.model,
models.providers.openai.models[0].id. A key with a dot in it is written with a
backslash or brackets: models.providers.my\.id.baseUrl, models.providers["my.id"].`

func newConfig(a *app) *cobra.Command {
	get := &cobra.Command{
		Use: "get [PATH]", Short: "Print a setting, or the whole file",
		Long: "Print a setting, or the whole file. A setting that the file does not hold is\n" +
			"printed with its default. Secrets are never shown.\n\n" + pathHelp,
		Example: "  hearth config get\n  hearth config get agents.defaults.model",
		Args:    cobra.MaximumNArgs(1),
		RunE:    a.run(func(ctx context.Context, args []string) error { return runConfigGet(ctx, a, args) }),
	}
	set := &cobra.Command{
		Use: "set PATH VALUE", Short: "Change a setting; comments in the file are kept",
		Long: "Change a setting. It is checked before it is saved, the rest of the file stays as\n" +
			"it is, and a running gateway uses it at once.\n\nVALUE is JSON5; what is not JSON5 by itself is text, so quotation marks are not\n" +
			"needed. With - it is read from standard input, which keeps a secret out of the\n" +
			"shell's history. Without it, a secret of a messaging network is asked for, kept in\n" +
			"the keychain, and named here.\n\n" + pathHelp,
		Example: "  hearth config set agents.defaults.model ollama/llama3.2\n  hearth config set gateway.port 19000\n" +
			"  hearth config set models.providers.openai.apiKey - < key.txt",
		Args: pathAndValue,
		RunE: a.run(func(ctx context.Context, args []string) error {
			if len(args) == 1 {
				return askSecret(ctx, a, args[0])
			}
			return runConfigSet(ctx, a, args[0], args[1])
		}),
	}
	unset := &cobra.Command{
		Use: "unset PATH", Short: "Remove a setting, so that its default holds",
		Long: "Remove a setting, so that its default holds.\n\n" + pathHelp,
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if err := a.mustBeSet(ctx, args[0]); err != nil {
				return err
			}
			return runConfigUnset(ctx, a, args[0])
		}),
	}
	file := &cobra.Command{
		Use: "file", Short: "Print where the settings file is", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runConfigFile(ctx, a) }),
	}
	check := &cobra.Command{
		Use: "check [FILE]", Short: "Check the settings file; works without a gateway",
		Long: "Check the settings file, or another one, and change nothing. Every finding is a\n" +
			"line FILE:LINE:COLUMN: error|warning: PATH: what is wrong. The exit code is 1 when\nthere are errors.",
		Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return runConfigCheck(ctx, a, args) }),
	}
	return group("config", "Read, change and check the settings", get, set, unset, file, check)
}

// configPath is the file that the running gateway uses, or else the one that
// it would use if it were started here.
func (a *app) configPath(ctx context.Context) (string, error) {
	dir, err := a.dir()
	if err != nil {
		return "", err
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err == nil {
		defer c.Close()
		if p := c.Hello().Snapshot.ConfigPath; p != "" {
			return p, nil
		}
	}
	return dir.Config(a.Env), nil
}

// settingsOptions are how this program reads the settings.
func (a *app) settingsOptions() config.Options {
	env := func(name string) (string, bool) { v := a.Env(name); return v, v != "" }
	return config.Options{Sections: sections.All(gateway.Networks()), Env: env}
}

func (a *app) settings(ctx context.Context) (*config.Snapshot, error) {
	path, err := a.configPath(ctx)
	if err != nil {
		return nil, err
	}
	return config.Inspect(path, a.settingsOptions())
}

func runConfigGet(ctx context.Context, a *app, args []string) error {
	s, err := a.settings(ctx)
	if err != nil {
		return err
	}
	if f := a.lostSettings(ctx, s); f != nil {
		return f
	}
	if len(args) == 0 {
		return printSettings(a, s)
	}
	path := args[0]
	value, ok, err := s.Get(path)
	if err == nil && !ok && s.Valid {
		if value, ok, err = s.InUse(path); string(value) == "{}" {
			ok = false // it has parts, and none is set
		}
	}
	if err != nil {
		return asUsage(err)
	}
	if !ok {
		if !s.Valid {
			return brokenSettings(s)
		}
		if f := a.unknownSetting(path); f != nil {
			return f
		}
		return a.printDefault(path)
	}
	var text string
	if !a.asJSON && json.Unmarshal(value, &text) == nil {
		return a.out().print(text, "\n")
	}
	return a.out().json(value)
}

// lostSettings is that there is no file any more and a running gateway goes by the one
// that it read, so that what holds is no default.
func (a *app) lostSettings(ctx context.Context, s *config.Snapshot) error {
	if s.Exists {
		return nil
	}
	var used protocol.ConfigSnapshot
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodConfigGet, nil, &used); err != nil || !used.Exists && used.Valid {
		return nil
	}
	return &failure{exitFailure, "the settings file " + s.Path + " is gone; the running gateway keeps what it had",
		"`hearth status` says how to bring it back"}
}

// unknownSetting is that a path leads to no setting that there is.
func (a *app) unknownSetting(path string) error {
	if why := config.Unknown(path, a.settingsOptions()); why != "" {
		return &failure{exitFailure, line(path) + " is not set. " + line(why), "docs/configuration.md lists every setting"}
	}
	return nil
}

// mustBeSet refuses to remove what is not in the file. A file that cannot be read is
// left to who edits it.
func (a *app) mustBeSet(ctx context.Context, path string) error {
	s, err := a.settings(ctx)
	if err != nil || !s.Valid {
		return nil
	}
	_, ok, err := s.Get(path)
	if err != nil || ok {
		return asUsage(err)
	}
	if f := a.unknownSetting(path); f != nil {
		return f
	}
	return &failure{exitFailure, line(path) + " is not set", "docs/configuration.md says what holds without it"}
}

func printSettings(a *app, s *config.Snapshot) error {
	r, err := s.Redacted()
	if err != nil {
		return err
	}
	if r.Raw == nil {
		return brokenSettings(s)
	}
	if a.asJSON {
		return a.out().json(r.Parsed)
	}
	if !s.Exists {
		return a.errs().print(dim("There is no settings file yet, so everything has its default. It would be "+s.Path), "\n")
	}
	text := *r.Raw
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return a.out().print(text)
}

func brokenSettings(s *config.Snapshot) error {
	msg := "the settings file has an error"
	if len(s.Issues) > 0 {
		msg += ": " + s.Issues[0].String()
	}
	return &failure{exitFailure, msg, "correct it in " + s.Path + "; `hearth config check` checks it"}
}

// asUsage: a path that cannot be read is a wrong command line.
func asUsage(err error) error {
	var pe *config.PathError
	if errors.As(err, &pe) {
		return &failure{exitUsage, pe.Error(), "`hearth config get --help` shows how a path is written"}
	}
	return err
}

type configSetJSON struct {
	OK   bool   `json:"ok"`
	File string `json:"file"`
	Path string `json:"path"`
}

func runConfigSet(ctx context.Context, a *app, path, value string) error {
	if value == "-" {
		b, err := io.ReadAll(io.LimitReader(a.input(), 1<<20))
		if err != nil {
			return fmt.Errorf("read the value from standard input: %w", err)
		}
		value = strings.TrimSpace(string(b))
	}
	literal := textual(path, value)
	patch, ok, err := config.PathPatch(path, literal)
	if err != nil {
		return asUsage(err)
	}
	if why := config.Unknown(path, a.settingsOptions()); why != "" && !a.asJSON {
		defer func() { _ = a.errs().print(yellow("! "), line(why), "\n") }()
	}
	if !ok || literal == "null" { // in a patch null would remove the key
		patch = ""
	}
	return a.editSettings(ctx, path, patch, "set", func(f *config.File) (*config.Snapshot, error) {
		return a.setKeys(ctx, f, path, literal)
	})
}

func runConfigUnset(ctx context.Context, a *app, path string) error {
	patch, ok, err := config.PathPatch(path, "null")
	if err != nil {
		return asUsage(err)
	}
	if !ok {
		patch = ""
	}
	return a.editSettings(ctx, path, patch, "removed", func(f *config.File) (*config.Snapshot, error) { return f.UnsetPath(ctx, path) })
}

// editSettings changes the file through the gateway, so that every part of it
// can refuse what it cannot use. Without a gateway, or for a change that a
// patch cannot say, it edits the file, and a running gateway reads it at once.
func (a *app) editSettings(ctx context.Context, path, patch, done string, edit func(*config.File) (*config.Snapshot, error)) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}})
	if err != nil && !errors.Is(err, statedir.ErrNotRunning) {
		return err
	}
	running := err == nil
	dir, err := a.dir()
	if err != nil {
		return err
	}
	file := dir.Config(a.Env)
	if running {
		defer c.Close()
		if p := c.Hello().Snapshot.ConfigPath; p != "" {
			file = p
		}
	}
	if running && patch != "" {
		if err := a.patchSettings(ctx, c, patch); err != nil {
			return settingNamed(err, path)
		}
	} else {
		f, err := config.Open(file, a.settingsOptions())
		if err != nil {
			return err
		}
		if _, err := edit(f); err != nil {
			return err
		}
		if running { // changes nothing, and returns once the file is in use
			if err := a.patchSettings(ctx, c, "{}"); err != nil {
				return err
			}
		}
	}
	if a.asJSON {
		return a.out().json(configSetJSON{true, file, path})
	}
	return a.errs().print(dim(line(path)+" "+done+" in "+file), "\n")
}

// settingNamed names the setting that the gateway refused: it says why, and who asked
// knows of which.
func settingNamed(err error, path string) error {
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || strings.Contains(refusal.Message, path) {
		return err
	}
	why, ok := strings.CutPrefix(refusal.Message, "the settings were not saved: ")
	if !ok {
		return err
	}
	named := *refusal
	named.Message = "the settings were not saved: " + path + ": " + why
	return &named
}

// patchSettings sends a patch, which may be sent twice: a change of the access
// token ends every connection, this one before it was answered.
func (a *app) patchSettings(ctx context.Context, c *client.Client, patch string) error {
	p := protocol.ConfigSetParams{Raw: patch}
	var res protocol.ConfigSetResult
	err := c.Call(ctx, protocol.MethodConfigPatch, p, &res)
	if errors.Is(err, client.ErrLost) {
		err = a.call(ctx, protocol.ScopeAdmin, protocol.MethodConfigPatch, p, &res)
	}
	for _, n := range res.Notes {
		if perr := a.errs().print(yellow("Note: "), line(n), "\n"); err == nil {
			err = perr
		}
	}
	return err
}

func runConfigFile(ctx context.Context, a *app) error {
	path, err := a.configPath(ctx)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(map[string]string{"file": path})
	}
	return a.out().print(path, "\n")
}

type configCheckJSON struct {
	File     string                 `json:"file"`
	Exists   bool                   `json:"exists"`
	Valid    bool                   `json:"valid"`
	Issues   []protocol.ConfigIssue `json:"issues"`
	Warnings []protocol.ConfigIssue `json:"warnings"`
}

func runConfigCheck(ctx context.Context, a *app, args []string) (err error) {
	var s *config.Snapshot
	if len(args) == 1 {
		if s, err = config.Inspect(args[0], a.settingsOptions()); err == nil && !s.Exists {
			return &failure{exitFailure, "there is no file " + line(args[0]), "`hearth config file` prints where the settings are"}
		}
	} else {
		if s, err = a.settings(ctx); err == nil {
			err = a.lostSettings(ctx, s)
		}
	}
	if err != nil {
		return err
	}
	r := configCheckJSON{s.Path, s.Exists, s.Valid, issues(s.Issues), issues(s.Warnings)}
	if a.asJSON {
		err = a.out().json(r)
	} else {
		err = printCheck(a.out(), &r)
	}
	if err == nil && !s.Valid {
		err = &failure{exitFailure, "the settings file has " + count(len(r.Issues), "error"), "a running gateway keeps the last good settings " +
			"until it is corrected"}
	}
	return err
}

func issues(in []config.Issue) []protocol.ConfigIssue {
	out := []protocol.ConfigIssue{}
	for _, i := range in {
		out = append(out, protocol.ConfigIssue{Path: i.Path, Message: i.Message, Line: i.Line, Column: i.Column})
	}
	return out
}

func printCheck(out screen, r *configCheckJSON) error {
	put := func(kind style, is []protocol.ConfigIssue) error {
		for _, i := range is {
			at := r.File
			if i.Line > 0 {
				at += fmt.Sprintf(":%d:%d", i.Line, i.Column)
			}
			what := line(i.Message)
			if i.Path != "" {
				what = line(i.Path) + ": " + what
			}
			if err := out.print(at+": ", kind, ": "+what, "\n"); err != nil {
				return err
			}
		}
		return nil
	}
	if err := put(red("error"), r.Issues); err != nil {
		return err
	}
	if err := put(yellow("warning"), r.Warnings); err != nil {
		return err
	}
	switch {
	case !r.Exists:
		return out.print(r.File, ": there is no file, everything has its default\n")
	case r.Valid:
		return out.print(r.File, ": ", green("ok"), "\n")
	}
	return nil
}
