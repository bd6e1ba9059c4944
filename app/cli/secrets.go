package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func newSecrets(a *app) *cobra.Command {
	one := func(f func(context.Context, *app, string) error) func(*cobra.Command, []string) error {
		return a.run(func(ctx context.Context, args []string) error { return f(ctx, a, args[0]) })
	}
	none := func(f func(context.Context, *app) error) func(*cobra.Command, []string) error {
		return a.run(func(ctx context.Context, _ []string) error { return f(ctx, a) })
	}
	var reveal bool
	get := &cobra.Command{Use: "get NAME --reveal", Short: "Print a secret in this terminal", Args: cobra.ExactArgs(1),
		RunE: one(func(ctx context.Context, a *app, name string) error { return revealSecret(ctx, a, name, reveal) })}
	get.Flags().BoolVar(&reveal, "reveal", false, "yes, print the value")
	c := group("secrets", "Keep keys, tokens and passwords where other programs cannot read them",
		&cobra.Command{Use: "list", Short: "List the names of what is kept", Args: cobra.NoArgs, RunE: none(listSecrets)},
		&cobra.Command{Use: "set NAME", Short: "Keep a secret, read from standard input or asked for without showing it",
			Args: cobra.ExactArgs(1), RunE: one(setSecret),
			Long: "Keep a secret. It is asked for without showing it, or read from standard input;\n" +
				"it is no argument, because other programs can see those. Settings refer to it as\nkeychain:NAME.",
			Example: "  hearth secrets set my-key\n  hearth secrets set my-key < key.txt\n" +
				"  hearth config set models.providers.openai.apiKey keychain:my-key"},
		get,
		&cobra.Command{Use: "remove NAME", Short: "Remove a secret", Args: cobra.ExactArgs(1), RunE: one(removeSecret)},
		&cobra.Command{Use: "doctor", Short: "Say where secrets are kept and what is not well", Args: cobra.NoArgs, RunE: none(secretsDoctor)},
		&cobra.Command{Use: "migrate", Short: "Move the keys that the settings file holds into the keychain or vault", Args: cobra.NoArgs,
			RunE: none(migrateSecrets)},
		&cobra.Command{Use: "unlock", Short: "Unlock the vault, and make it when there is none", Args: cobra.NoArgs, RunE: none(unlockSecrets)},
	)
	c.RunE = none(listSecrets)
	return c
}

// secretsAt asks the gateway, or, when none runs, does the same here.
func secretsAt(ctx context.Context, a *app, remote func(*client.Client) error, local func(*keeper.Keeper) error) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if err == nil {
		defer c.Close()
		return remote(c)
	}
	if !errors.Is(err, statedir.ErrNotRunning) {
		return err
	}
	k, err := a.keeper(ctx)
	if err != nil {
		return err
	}
	return asSecretsFailure(local(k))
}

// keeper opens the place of the secrets in this process.
func (a *app) keeper(ctx context.Context) (*keeper.Keeper, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	if err := dir.Ensure(); err != nil {
		return nil, err
	}
	s, err := a.settings(ctx)
	if err != nil {
		return nil, err
	}
	return keeper.New(keeper.Options{Dir: string(dir), Backend: lookup.Section.Of(s.Config).Backend, Env: a.Env}), nil
}

func asSecretsFailure(err error) error {
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return &failure{exitFailure, line(err.Error()), "`hearth secrets doctor` says where secrets are kept and what is not well"}
}

// typed reads a secret: hidden at a terminal, else from standard input.
func (a *app) typed(prompt string) (string, error) {
	if !a.InTerminal {
		b, err := io.ReadAll(io.LimitReader(a.input(), secret.MaxValue+1))
		return string(b), err
	}
	if err := a.errs().print(prompt); err != nil {
		return "", err
	}
	word, err := a.hiddenLine()
	if perr := a.errs().print("\n"); err == nil {
		err = perr
	}
	return word, err
}

func listSecrets(ctx context.Context, a *app) (err error) {
	res := protocol.SecretsList{Secrets: []protocol.SecretEntry{}}
	err = secretsAt(ctx, a, func(c *client.Client) error { return c.Call(ctx, protocol.MethodSecretsList, nil, &res) },
		func(k *keeper.Keeper) error {
			s, err := a.settings(ctx)
			if err != nil {
				return err
			}
			used := s.Config.KeychainUsers()
			list, err := unlocked(ctx, a, k, func() ([]secret.Entry, error) { return k.List(ctx) })
			res.Elsewhere = k.ElsewhereWords(ctx)
			for _, e := range list {
				by := append([]string{}, used[e.Name]...)
				res.Secrets = append(res.Secrets, protocol.SecretEntry{Name: e.Name, UpdatedAt: e.UpdatedAt.UnixMilli(), UsedBy: by})
			}
			return err
		})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	defer func() {
		for _, note := range res.Elsewhere {
			err = errors.Join(err, a.errs().print(yellow("!"), " ", line(note), "\n"))
		}
	}()
	if len(res.Secrets) == 0 {
		return a.out().print("Nothing is kept yet.\n")
	}
	var rows [][]string
	for _, s := range res.Secrets {
		rows = append(rows, []string{s.Name, stamp(s.UpdatedAt), strings.Join(s.UsedBy, ", ")})
	}
	return a.out().table([]string{"NAME", "SINCE", "USED BY"}, rows)
}

// unlocked runs a call, asking for the passphrase of a locked vault first.
func unlocked[T any](ctx context.Context, a *app, k *keeper.Keeper, call func() (T, error)) (T, error) {
	v, err := call()
	if !errors.Is(err, secret.ErrLocked) || k.Status(ctx).Place != keeper.Vault {
		return v, err
	}
	if !a.InTerminal { // what another program has unlocked is open for that one only
		return v, &failure{exitFailure, "the vault is locked, and this command needs its passphrase itself",
			"type it at a terminal, or name a private file that holds it: " + keeper.PassphraseFile + "=FILE"}
	}
	pass, err := a.typed("Passphrase of the vault: ")
	if err == nil {
		err = k.Unlock(ctx, secret.New(pass), false)
	}
	if err != nil {
		return v, err
	}
	return call()
}

func setSecret(ctx context.Context, a *app, name string) error {
	if err := secret.CheckName(name); err != nil {
		return usage("%v", err)
	}
	if err := a.readyToKeep(ctx); err != nil {
		return err
	}
	text, err := a.typed("Secret (it is not shown): ")
	if err != nil {
		return fmt.Errorf("read the secret: %w", err)
	}
	if err := keepSecret(ctx, a, name, text); err != nil {
		return err
	}
	return a.done(protocol.OKResult{OK: true}, "Kept. Settings refer to it as keychain:"+line(name)+".")
}

func keepSecret(ctx context.Context, a *app, name, text string) error {
	v, err := secret.Clean(text)
	if err != nil {
		return asSecretsFailure(err)
	}
	return secretsAt(ctx, a, func(c *client.Client) error {
		return c.Call(ctx, protocol.MethodSecretsSet, protocol.SecretSetParams{Name: name, Value: v.Reveal()}, nil)
	}, func(k *keeper.Keeper) error {
		_, err := unlocked(ctx, a, k, func() (struct{}, error) { return struct{}{}, k.Set(ctx, name, v) })
		return err
	})
}

func removeSecret(ctx context.Context, a *app, name string) error {
	err := secretsAt(ctx, a, func(c *client.Client) error {
		return c.Call(ctx, protocol.MethodSecretsRemove, protocol.SecretNameParams{Name: name}, nil)
	}, func(k *keeper.Keeper) error {
		_, err := unlocked(ctx, a, k, func() (struct{}, error) { return struct{}{}, k.Delete(ctx, name) })
		return err
	})
	if err != nil {
		return err
	}
	return a.done(protocol.OKResult{OK: true}, "Removed.")
}

// revealSecret reads from the keychain or vault in this process: the gateway
// gives no secret to anybody.
func revealSecret(ctx context.Context, a *app, name string, reveal bool) error {
	if !reveal {
		return &failure{exitUsage, "a secret is printed only with --reveal", "add --reveal when nobody looks over your shoulder; `hearth " +
			"secrets list` shows the names"}
	}
	if a.InTerminal && a.OutTerminal {
		yes, err := a.agree("Print " + line(name) + " in this terminal? [y/N] ")
		if err != nil || !yes {
			return err
		}
	}
	k, err := a.keeper(ctx)
	if err != nil {
		return err
	}
	v, err := unlocked(ctx, a, k, func() (secret.Secret, error) { return k.Get(ctx, name) })
	if err != nil {
		return asSecretsFailure(err)
	}
	if a.asJSON {
		return a.out().json(map[string]string{"name": name, "value": v.Reveal()})
	}
	return a.out().print(v.Reveal(), "\n")
}

// agree asks a person at the terminal.
func (a *app) agree(question string) (bool, error) {
	if err := a.errs().print(question); err != nil {
		return false, err
	}
	answer, err := bufio.NewReader(a.input()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// declined is that a person did not agree. Where nobody can be asked it names the way
// around the question.
func (a *app) declined() *failure {
	f := &failure{code: exitFailure, message: "nothing was changed"}
	if !a.InTerminal {
		f.hint = "--yes accepts it without a question"
	}
	return f
}

func secretsDoctor(ctx context.Context, a *app) error {
	var res protocol.SecretsStatus
	err := secretsAt(ctx, a, func(c *client.Client) error { return c.Call(ctx, protocol.MethodSecretsStatus, nil, &res) },
		func(k *keeper.Keeper) error {
			s, err := a.settings(ctx)
			if err == nil {
				res = statusOf(k.Try(ctx), s)
				res.Problems = append(res.Problems, k.ElsewhereWords(ctx)...)
			}
			return err
		})
	if err != nil {
		return err
	}
	if a.asJSON {
		return errors.Join(a.out().json(res), unusable(res))
	}
	where := map[string]string{"keychain": "the system's keychain", "vault": "the vault, under a passphrase",
		"plain": "a private file, not encrypted", "": "nowhere"}[res.Place]
	if err := a.out().print("Secrets are kept in: ", bold(where), " (", res.State, ")\n"); err != nil {
		return err
	}
	notes := append([]string{}, res.Problems...)
	if res.Message != "" {
		notes = append([]string{res.Message}, notes...)
	}
	for _, p := range res.InTheOpen {
		notes = append(notes, p+" stands in the settings file itself; `hearth secrets migrate` moves it.")
	}
	notes = append(notes, stayInLists(res.InLists)...)
	for _, n := range notes {
		if err := a.out().print("  ", yellow("!"), " ", line(n), "\n"); err != nil {
			return err
		}
	}
	if len(notes) == 0 {
		return a.out().print("  ", green("ok"), "\n")
	}
	return unusable(res)
}

// unusable is the failure of a place that cannot be opened: `hearth secrets doctor` has
// said why.
func unusable(s protocol.SecretsStatus) error {
	if s.State != keeper.Unusable {
		return nil
	}
	return &failure{exitFailure, "what is kept cannot be read", "why, and what to do, stands above"}
}

func statusOf(s keeper.Status, snap *config.Snapshot) protocol.SecretsStatus {
	res := protocol.SecretsStatus{Backend: s.Backend, Place: s.Place, State: s.State, Ready: s.Ready(), Message: s.Message,
		InTheOpen: []string{}, Problems: []string{}, InLists: snap.InLists()}
	for _, f := range snap.Literals() {
		res.InTheOpen = append(res.InTheOpen, f.Path)
	}
	return res
}

func migrateSecrets(ctx context.Context, a *app) error {
	var res protocol.SecretsMigrated
	err := secretsAt(ctx, a, func(c *client.Client) error { return c.Call(ctx, protocol.MethodSecretsMigrate, nil, &res) },
		func(k *keeper.Keeper) (err error) {
			res, err = a.migrateHere(ctx, k)
			return err
		})
	if err != nil {
		return err
	}
	said := "The settings hold no keys; there is nothing to move."
	switch {
	case len(res.Moved) > 0:
		said = "Moved: " + line(strings.Join(res.Moved, ", ")) + ". The settings only refer to them now."
	case len(res.Gathered) > 0:
		said = ""
	case len(res.InLists) > 0:
		said = "Nothing was moved."
	}
	if len(res.Gathered) > 0 {
		said = strings.TrimSpace(said + "\nMoved to where keys are kept now: " + line(strings.Join(res.Gathered, ", ")) + ".")
	}
	for _, note := range stayInLists(res.InLists) {
		said += "\n" + line(note)
	}
	return a.done(res, said)
}

// stayInLists says what a person does with keys that stand in lists of the settings.
func stayInLists(places []string) (notes []string) {
	for _, p := range places {
		notes = append(notes, p+" stands in the settings file itself; "+leftInLists()+".")
	}
	return notes
}

// leftInLists is what a person does with a key that `hearth secrets migrate` leaves.
func leftInLists() (hint string) {
	hint = "what stands in a list is not moved: keep it with `hearth secrets set NAME` and write \"keychain:NAME\" in its place"
	return hint
}

func (a *app) migrateHere(ctx context.Context, k *keeper.Keeper) (res protocol.SecretsMigrated, err error) {
	path, err := a.configPath(ctx)
	if err != nil {
		return res, err
	}
	f, err := config.Open(path, a.settingsOptions())
	if err != nil {
		return res, err
	}
	s := f.Snapshot()
	res.Moved, res.InLists = []string{}, s.InLists()
	if res.Gathered, err = unlocked(ctx, a, k, func() ([]string, error) { return k.Gather(ctx) }); err != nil {
		return res, err
	}
	text, found, err := f.Sections().Hoist(s.Raw)
	if err != nil || len(found) == 0 {
		return res, err
	}
	for _, h := range found {
		if _, err := unlocked(ctx, a, k, func() (struct{}, error) { return struct{}{}, k.Set(ctx, h.Path, h.Value) }); err != nil {
			return res, err
		}
		res.Moved = append(res.Moved, h.Path)
	}
	_, err = f.Set(ctx, s.Hash, text)
	return res, err
}

func unlockSecrets(ctx context.Context, a *app) error {
	var status protocol.SecretsStatus
	pass, made, here := "", false, false
	ask := func(s protocol.SecretsStatus) (err error) {
		if s.Place == keeper.Keychain || s.Place == keeper.Plain {
			return nil
		}
		if made = s.Place != keeper.Vault || s.State == "missing"; made {
			pass, err = a.newPassphrase("the vault")
		} else {
			pass, err = a.typed("Passphrase of the vault: ")
		}
		if pass = strings.TrimRight(pass, "\r\n"); err == nil && pass == "" {
			err = noPassphrase(a)
		}
		return err
	}
	err := secretsAt(ctx, a, func(c *client.Client) error {
		if err := c.Call(ctx, protocol.MethodSecretsStatus, nil, &status); err != nil {
			return err
		}
		if err := ask(status); err != nil {
			return err
		}
		return c.Call(ctx, protocol.MethodSecretsUnlock, protocol.SecretsUnlockParams{Passphrase: pass, Create: true}, &status)
	}, func(k *keeper.Keeper) error {
		here = true
		s := k.Status(ctx)
		if err := ask(protocol.SecretsStatus{Place: s.Place, State: s.State}); err != nil {
			return err
		}
		if err := k.Unlock(ctx, secret.New(pass), true); err != nil {
			return err
		}
		s = k.Status(ctx)
		status = protocol.SecretsStatus{Backend: s.Backend, Place: s.Place, State: s.State, Ready: s.Ready(), Message: s.Message,
			InTheOpen: []string{}, Problems: []string{}}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case status.Place == keeper.Plain:
		return a.done(status, "There is nothing to unlock: keys are kept in a private file that is not encrypted, as secrets.backend says.")
	case status.Place == keeper.Keychain:
		return a.done(status, "The system's keychain is unlocked.")
	case here && made:
		return a.done(status, "The vault is made, under this passphrase. No gateway is running; one that is started later needs it "+
			"unlocked: `hearth secrets unlock`.")
	case here:
		return &failure{exitNotRunning, "nothing was unlocked: the passphrase is the right one, but the gateway that would use it is not running",
			"start it with `hearth gateway`, then run `hearth secrets unlock` again"}
	}
	return a.done(status, "Unlocked. A gateway that is started later needs it unlocked again.")
}
