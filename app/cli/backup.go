package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newBackup(a *app) *cobra.Command {
	var setup protocol.BackupSetupParams
	place := &cobra.Command{
		Use: "setup FOLDER", Short: "Choose where backups go, and the passphrase that opens them", Args: cobra.ExactArgs(1),
		Long: "Choose where backups go, and the passphrase that opens them. From then on one is made\n" +
			"each day while Hearth runs. The folder may be on another disk, or one that a service\n" +
			"copies elsewhere: what is in it is encrypted (age). Hearth keeps no passphrase; without\n" +
			"it nobody can open the backups, you neither.\n\n" +
			"The passphrase is asked for, or read from standard input; it is no argument, because\nother programs can see those.",
		Example: "  hearth backup setup /media/disk/hearth\n  hearth backup setup ~/Nextcloud/hearth --secrets\n" +
			"  hearth backup setup /mnt/backup --recipient age1…",
		RunE: a.run(func(ctx context.Context, args []string) error { return setupBackup(ctx, a, args[0], setup) }),
	}
	place.Flags().StringVar(&setup.Recipient, "recipient", "", "your own age `KEY` (age1…) opens them, in place of a passphrase")
	place.Flags().BoolVar(&setup.Secrets, "secrets", false, "also save keys, passwords and what your devices know this Hearth by")
	var full bool
	create := &cobra.Command{Use: "create", Short: "Make a backup now", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return createBackup(ctx, a, full) })}
	create.Flags().BoolVar(&full, "full", false, "one that needs no other to be restored")
	c := group("backup", "Backups: make them, look at them, put one back",
		place, create,
		&cobra.Command{Use: "status", Short: "Say where backups go and when the last one was made", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return statusBackup(ctx, a) })},
		&cobra.Command{Use: "list", Short: "List the backups that there are", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return listBackups(ctx, a) })},
		&cobra.Command{Use: "prune", Short: "Remove the backups that are not kept any longer (backup.keep)", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return pruneBackups(ctx, a) })},
		newBackupVerify(a), newBackupRestore(a), newBackupUndo(a),
	)
	c.RunE = a.run(func(ctx context.Context, _ []string) error { return statusBackup(ctx, a) })
	return c
}

// callSlowly asks the running gateway for what may take minutes.
func (a *app) callSlowly(ctx context.Context, method string, params, result any) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Call(ctx, method, params, result)
}

func setupBackup(ctx context.Context, a *app, folder string, p protocol.BackupSetupParams) error {
	if strings.TrimSpace(folder) == "" {
		return &failure{exitUsage, "the folder for the backups has no name", "name one, for example `hearth backup setup /media/disk/hearth`"}
	}
	var err error
	if p.Folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if p.Recipient == "" {
		if p.Passphrase, err = a.placePassphrase(p.Folder); err != nil {
			return err
		}
	}
	var res protocol.BackupStatus
	if err := a.callSlowly(ctx, protocol.MethodBackupSetup, p, &res); err != nil {
		return err
	}
	words := "Backups go to " + line(res.Folder) + ", one " + every(res.EveryMs) + ". `hearth backup create` makes the first one now."
	if !res.Secrets {
		words += "\nKeys and passwords are not in them (--secrets has them saved too)."
	}
	if p.Recipient == "" {
		words += "\nKeep the passphrase somewhere else than on this computer: nothing can be restored without it."
	}
	return a.done(res, words)
}

// placePassphrase asks for a new passphrase, or for the one that a place has.
func (a *app) placePassphrase(folder string) (string, error) {
	if backup.HasKey(folder) {
		return a.passphrase("Passphrase of the backups in " + line(folder) + ": ")
	}
	if !a.InTerminal {
		return a.passphrase("")
	}
	return a.newPassphrase("the backups")
}

// passphrase reads one that exists: hidden at a terminal, else a line of input.
func (a *app) passphrase(prompt string) (string, error) {
	if !a.InTerminal {
		text, err := bufio.NewReader(a.input()).ReadString('\n')
		if errors.Is(err, errInterrupted) {
			return "", err
		}
		if text == "" && err != nil {
			return "", usage("no passphrase was given; write it to standard input")
		}
		return strings.TrimRight(text, "\r\n"), nil
	}
	pass, err := a.typed(prompt)
	return strings.TrimRight(pass, "\r\n"), err
}

// every is an interval in words.
func every(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case d == 0:
		return "whenever you ask for it"
	case d == 24*time.Hour:
		return "a day"
	default:
		return "each " + strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
	}
}

func createBackup(ctx context.Context, a *app, full bool) error {
	var res protocol.BackupMade
	if err := a.callSlowly(ctx, protocol.MethodBackupCreate, protocol.BackupCreateParams{Full: full}, &res); err != nil {
		return err
	}
	words := fmt.Sprintf("%s  %s of %s", res.Name, size(res.Bytes), size(res.Source)+" in "+count(res.Files, "file"))
	if !res.Full {
		words += ", what changed since " + res.Base
	}
	for _, p := range res.Left {
		words += "\n" + "  ! not saved, it cannot be read: " + line(p)
	}
	for _, p := range res.Torn {
		words += "\n" + "  ! changed while it was saved: " + line(p)
	}
	if res.Note != "" {
		words += "\n" + "  ! it is made, but " + line(res.Note)
	}
	return a.done(res, words)
}

func statusBackup(ctx context.Context, a *app) error {
	var res protocol.BackupStatus
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodBackupStatus, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if res.Folder == "" {
		return a.out().print("No backups are made yet. `hearth backup setup FOLDER` chooses where they go.\n")
	}
	secrets := "without keys and passwords"
	if res.Secrets {
		secrets = "with keys and passwords"
	}
	if err := a.out().print("Backups go to ", bold(line(res.Folder)), ", one ", every(res.EveryMs), ", ", secrets, ".\n"); err != nil {
		return err
	}
	when := "There is none yet."
	if res.LastAt > 0 {
		when = "The last one: " + stamp(res.LastAt) + "."
	}
	if res.NextAt > 0 {
		when += " The next one: " + stamp(res.NextAt) + "."
	}
	if res.Running {
		when += " One is being made."
	}
	if err := a.out().print(when, "\n"); err != nil || res.Error == "" {
		return err
	}
	return a.out().print(yellow("!"), " The last try failed: ", line(res.Error), "\n")
}

func listBackups(ctx context.Context, a *app) error {
	var res protocol.BackupList
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodBackupList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Backups) == 0 {
		return a.out().print("There are no backups yet.\n")
	}
	var rows [][]string
	for _, b := range res.Backups {
		kind := "full"
		switch {
		case !b.Full && b.Base == "":
			kind = "its full backup is missing"
		case !b.Full:
			kind = "upon " + b.Base
		}
		rows = append(rows, []string{b.Name, stamp(b.At), size(b.Bytes), kind})
	}
	return a.out().table([]string{"BACKUP", "WHEN", "SIZE", "KIND"}, rows)
}

func pruneBackups(ctx context.Context, a *app) error {
	var res protocol.BackupPruned
	if err := a.callSlowly(ctx, protocol.MethodBackupPrune, nil, &res); err != nil {
		return err
	}
	if len(res.Removed) == 0 {
		return a.done(res, "All backups are still kept.")
	}
	var words strings.Builder
	for _, b := range res.Removed {
		fmt.Fprintf(&words, "removed %s  %s\n", b.Name, size(b.Bytes))
	}
	return a.done(res, strings.TrimSuffix(words.String(), "\n"))
}
