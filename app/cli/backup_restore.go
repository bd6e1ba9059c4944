package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const fileHelp = "FILE is a backup, or a folder with backups, of which the newest is taken. The passphrase\n" +
	"is asked for, or read from standard input."

func newBackupVerify(a *app) *cobra.Command {
	var identity string
	c := &cobra.Command{
		Use: "verify FILE", Short: "Read a backup whole and rehearse putting it back", Args: cobra.ExactArgs(1),
		Long: "Read a backup whole: everything is unpacked into a folder that is removed again, compared\n" +
			"with what was saved, and the database in it is read from end to end.\n" + fileHelp,
		RunE: a.run(func(ctx context.Context, args []string) error { return verifyBackup(ctx, a, args[0], identity) }),
	}
	c.Flags().StringVar(&identity, "identity", "", "the `FILE` of the age key that opens it, in place of a passphrase")
	return c
}

func newBackupRestore(a *app) *cobra.Command {
	var o restoring
	c := &cobra.Command{
		Use: "restore FILE", Short: "Put a backup in the place of what is there, while the gateway is stopped", Args: cobra.MaximumNArgs(1),
		Long: "Put a backup in the place of what is there. It is unpacked beside and compared first, you\n" +
			"are shown what would change and asked. What is there now is kept beside it, and\n" +
			"`hearth backup undo` takes the restore back. Nothing that the backup held as to be sent,\n" +
			"answered or run is done again.\n" + fileHelp,
		RunE: a.run(func(ctx context.Context, args []string) error {
			if o.finish {
				return finishRestore(a)
			}
			if len(args) != 1 {
				return usage("name the backup, or a folder with backups")
			}
			return restoreBackup(ctx, a, args[0], o)
		}),
	}
	c.Flags().StringVar(&o.identity, "identity", "", "the `FILE` of the age key that opens it, in place of a passphrase")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.finish, "finish", false, "finish a restore that was cut short")
	return c
}

func newBackupUndo(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "undo", Short: "Take the last restore back, while the gateway is stopped", Args: cobra.NoArgs,
		RunE: a.run(func(context.Context, []string) error { return undoRestore(a) }),
	}
}

type restoring struct {
	identity    string
	yes, finish bool
}

// openBackup finds a backup and its key.
func (a *app) openBackup(ctx context.Context, file, identity string) (string, backup.Key, error) {
	var key backup.Key
	st, err := os.Stat(file)
	if err != nil {
		return "", key, &failure{exitFailure, "there is no backup at " + line(file), "`hearth backup list` names those that there are"}
	}
	if st.IsDir() {
		list, err := backup.List(file)
		if err != nil {
			return "", key, err
		}
		if len(list) == 0 {
			return "", key, &failure{exitFailure, "there are no backups in " + line(file),
				"their names begin with hearth- and end with .age"}
		}
		file = filepath.Join(file, list[0].Name)
	}
	place := filepath.Dir(file)
	switch {
	case identity != "":
		key, err = backup.ReadKey(identity)
	case !backup.HasKey(place):
		err = &failure{exitFailure, "there is no " + backup.KeyName + " beside the backup", "put the file of the folder it was made in " +
			"beside it; or name your own age key with --identity"}
	default:
		var pass string
		if pass, err = a.passphrase("Passphrase of the backups in " + line(place) + ": "); err == nil {
			key, err = backup.KeyOf(ctx, place, secret.New(pass))
		}
	}
	return file, key, asBackupFailure(err)
}

func asBackupFailure(err error) error {
	var f *failure
	hint := ""
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case errors.Is(err, backup.ErrKey):
		hint = "nothing was changed; try again"
	case errors.Is(err, backup.ErrDamaged), errors.Is(err, backup.ErrForeign):
		hint = "nothing was changed; take another one, `hearth backup list` names them"
	case errors.Is(err, restore.ErrHalf):
		hint = "`hearth backup restore --finish` finishes it, `hearth backup undo` takes it back"
	}
	return &failure{exitFailure, line(err.Error()), hint}
}

func verifyBackup(ctx context.Context, a *app, file, identity string) error {
	file, key, err := a.openBackup(ctx, file, identity)
	if err != nil {
		return err
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	v, err := restore.Verify(ctx, dir, file, key, time.Now())
	if err != nil {
		return asBackupFailure(err)
	}
	words := fmt.Sprintf("%s is good: %s of %s, %s, all as they were saved; the database has %s.", filepath.Base(file), count(v.Files,
		"file"),
		v.Manifest.At.Local().Format("2 January 2006 15:04"), size(v.Manifest.Bytes()), count(v.Records, "record"))
	return a.done(map[string]any{"backup": v.Manifest.Name, "at": v.Manifest.At.UnixMilli(), "files": v.Files, "records": v.Records}, words)
}

// stopped refuses while a gateway runs.
func (a *app) stopped() (statedir.Dir, error) {
	dir, err := a.dir()
	if err == nil && restore.Running(dir) {
		err = &failure{exitFailure, "the gateway is running", "stop it first: Quit in the menu bar, Ctrl-C where it runs, or `hearth " +
			"service stop` (`start` starts it again)"}
	}
	return dir, err
}

func restoreBackup(ctx context.Context, a *app, file string, o restoring) error {
	dir, err := a.stopped()
	if err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	file, key, err := a.openBackup(ctx, file, o.identity)
	if err != nil {
		return err
	}
	settings := dir.Config(a.Env)
	s, err := restore.Stage(ctx, restore.Options{
		Dir: dir, Config: settings, Home: statedir.Home(a.Env), File: file, Key: key, Now: time.Now(),
		Settings: func(saved []byte) ([]byte, error) { return a.joinSettings(ctx, settings, saved) },
	})
	if err != nil {
		return asBackupFailure(err)
	}
	if !o.yes {
		ok, err := a.agree(planWords(s) + "Put it in the place of what is there? All of that is kept. [y/N] ")
		if err != nil || !ok {
			return errors.Join(err, s.Drop(), a.declined())
		}
	}
	j, err := s.Apply()
	if err != nil {
		return &failure{exitFailure, line(err.Error()), "`hearth backup restore --finish` goes on, `hearth backup undo` takes it back"}
	}
	keys, failed := a.restoreValues(ctx, s.Manifest.Secrets, s.Values)
	return errors.Join(a.done(j, restoredWords(j)+keys), failed)
}

// planWords say what a restore would change.
func planWords(s *restore.Staged) string {
	m := s.Manifest
	var b strings.Builder
	fmt.Fprintf(&b, "The backup of %s, by Hearth %s: %s, %s in the database.\n", m.At.Local().Format("2 January 2006 15:04"),
		line(m.Version),
		size(m.Bytes()), count(s.Records, "record"))
	for _, c := range s.Changes {
		if !c.Known {
			fmt.Fprintf(&b, "  %s: is not there, and comes whole (%s)\n", line(c.To), count(c.Missing, "file"))
			continue
		}
		fmt.Fprintf(&b, "  %s: %s as they are, %d other, %d that are missing, %d only here now\n", line(c.To), count(c.Same, "file"),
			c.Differ,
			c.Missing, c.Newer)
	}
	if !m.Secrets {
		b.WriteString("  keys, passwords and paired devices stay as they are here: the backup has none\n")
	}
	return b.String()
}

func restoredWords(j restore.Journal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The backup of %s is in its place.", j.Saved.Local().Format("2 January 2006 15:04"))
	head := " What was there:\n"
	for _, m := range j.Moves {
		if _, err := os.Lstat(m.Old); err == nil {
			b.WriteString(head + "  " + line(m.Old) + "\n")
			head = ""
		}
	}
	if head != "" { // nothing was there
		b.WriteString("\n")
	}
	b.WriteString("Start Hearth as always. `hearth backup undo` takes this back, while it is stopped.")
	return b.String()
}

// joinSettings puts the keys that stand in the settings here into saved ones, which
// hold none.
func (a *app) joinSettings(ctx context.Context, path string, saved []byte) ([]byte, error) {
	if !strings.Contains(string(saved), secret.Marker) {
		return saved, nil
	}
	own, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return saved, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hearth-settings-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	copied := filepath.Join(dir, "hearth.json")
	if err := statedir.WriteFile(copied, own); err != nil {
		return nil, err
	}
	f, err := config.Open(copied, a.settingsOptions())
	if err != nil {
		return nil, err
	}
	if _, err := f.Set(ctx, f.Snapshot().Hash, string(saved)); err != nil {
		return nil, err
	}
	return os.ReadFile(copied)
}

// vaultCame: what is in a vault needs no putting back.
const vaultCame = "Keys and passwords came in their vault. It opens with the passphrase that it had: `hearth secrets unlock`, once " +
	"Hearth runs."

// restoreValues puts saved keys where keys are kept, and says what became of them.
func (a *app) restoreValues(ctx context.Context, secrets bool, raw []byte) (said string, err error) {
	k, err := a.keeper(ctx)
	if err == nil && secrets && k.VaultLocked() {
		return "\n" + vaultCame, nil
	}
	var values map[string]string
	if len(raw) == 0 || json.Unmarshal(raw, &values) != nil || len(values) == 0 {
		return "", nil
	}
	var missing []string
	for name, v := range values {
		if err == nil {
			err = k.Set(ctx, name, secret.New(v))
		}
		if err != nil {
			missing = append(missing, name)
		}
	}
	if err == nil {
		return fmt.Sprintf("\n%s put back where Hearth keeps them.", count(len(values), "key")), nil
	}
	slices.Sort(missing)
	return "", &failure{exitFailure, "these keys could not be put back: " + line(strings.Join(missing, ", ")) + ": " + line(err.Error()),
		"unlock the place for keys, take this back with `hearth backup undo` and restore again; or set them with `hearth secrets set NAME`"}
}

func finishRestore(a *app) error {
	dir, err := a.stopped()
	if err != nil {
		return err
	}
	j, err := restore.Resume(dir)
	switch {
	case errors.Is(err, restore.ErrNothing):
		return &failure{exitFailure, "there is no restore to finish", ""}
	case err != nil:
		return asBackupFailure(err)
	case j.Phase == restore.Undone:
		return a.done(j, "The restore is taken back.")
	}
	return a.done(j, restoredWords(j))
}

func undoRestore(a *app) error {
	dir, err := a.stopped()
	if err != nil {
		return err
	}
	j, err := restore.Undo(dir)
	if errors.Is(err, restore.ErrNothing) {
		return &failure{exitFailure, "there is no restore to take back", ""}
	}
	if err != nil {
		return asBackupFailure(err)
	}
	return a.done(j, "Everything is as it was before the restore. What the backup held is kept as "+
		"…restored-"+j.At.Local().Format("20060102-150405")+".")
}
