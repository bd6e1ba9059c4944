package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func newMove(a *app) *cobra.Command {
	var send sending
	var sure, yes bool
	status := func(ctx context.Context, _ []string) error { return moveStatus(ctx, a) }
	to := &cobra.Command{
		Use: "send", Short: "Offer this Hearth to another machine, and show how it goes there", Args: cobra.NoArgs,
		Long: "Offer this Hearth to another machine on the network. It shows a code to give to\n" +
			"`hearth move from` there; or name this gateway there, and compare six digits. Everything\n" +
			"goes along: conversations, settings, keys, and who this Hearth is to your devices. This\n" +
			"one sleeps from then on.",
		RunE: a.run(func(ctx context.Context, _ []string) error { return sendMove(ctx, a, send) }),
	}
	to.Flags().StringVar(&send.to, "to", "", "a `DEVICE` that is paired already (`hearth devices`) may ask for it")
	to.Flags().BoolVar(&send.codeOnly, "code", false, "show the code and do not wait")
	to.Flags().BoolVarP(&send.yes, "yes", "y", false, "do not ask")
	export := &cobra.Command{
		Use: "export FILE", Short: "Move this Hearth into one encrypted file; it sleeps here from then on", Args: cobra.ExactArgs(1),
		Long: "Move this Hearth into one encrypted file: conversations, settings, keys, and who this\n" +
			"Hearth is to your devices. It sleeps here from then on, so that two never run as one.\n" +
			"`hearth move import FILE` on the other machine wakes it there.",
		RunE: a.run(func(ctx context.Context, args []string) error { return exportMove(ctx, a, args[0], yes) }),
	}
	export.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	wake := &cobra.Command{
		Use: "wake", Short: "Wake a Hearth that sleeps because it was moved", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return wakeMove(ctx, a, sure) }),
	}
	wake.Flags().BoolVar(&sure, "sure", false, "no other machine runs as this Hearth; you have looked")
	c := group("move", "Move this Hearth to another machine",
		&cobra.Command{Use: "status", Short: "Say whether this Hearth is being moved, or was", Args: cobra.NoArgs, RunE: a.run(status)},
		to, newMoveFrom(a), export, newMoveImport(a), wake)
	c.RunE = a.run(status)
	return c
}

// sending is how a Hearth is offered.
type sending struct {
	to            string
	codeOnly, yes bool
}

// moveState is what the gateway says of the move; without one, what its folder says.
func (a *app) moveState(ctx context.Context) (st protocol.MoveStatus, running bool, err error) {
	err = a.call(ctx, protocol.ScopeRead, protocol.MethodMoveStatus, nil, &st)
	if !errors.Is(err, statedir.ErrNotRunning) {
		return st, true, err
	}
	dir, err := a.dir()
	if err != nil {
		return st, false, err
	}
	s := move.Asleep(dir)
	if !s.Sleeps() {
		return protocol.MoveStatus{Phase: "awake"}, false, nil
	}
	return protocol.MoveStatus{Phase: s.Phase, ID: s.ID, AtMs: s.At.UnixMilli(), Name: s.Name, File: s.File, Arrived: s.Arrived}, false, nil
}

func moveStatus(ctx context.Context, a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	st, _, err := a.moveState(ctx)
	if err != nil {
		return err
	}
	var words string
	switch s := move.Asleep(dir); {
	case st.Phase == "offered":
		words = "This Hearth is offered to another machine until " + stamp(st.UntilMs) + ". It is awake."
	case !s.Sleeps():
		words = "This Hearth is awake, and not being moved."
		if c, ok := move.ReadComing(dir); ok {
			words += "\nOne from " + line(c.From) + " is on its way to this machine; `hearth move from` goes on with it."
		}
	case s.Phase == move.Arriving:
		words = "A Hearth is being put in its place here. `hearth move import --finish` goes on."
	default:
		words = s.Words()
		if st.Packed && !s.Arrived && s.Phase == move.Leaving {
			words += fmt.Sprintf("\nThe other machine has %s of %s.", size(st.Have), size(st.Bytes))
		}
		if st.Error != "" {
			words += "\nPacking failed: " + line(st.Error)
		}
	}
	return a.done(st, words)
}

func exportMove(ctx context.Context, a *app, file string, yes bool) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if err := newFile(path); err != nil {
		return err
	}
	st, running, err := a.moveState(ctx)
	if err != nil {
		return err
	}
	if !yes && st.Phase == "awake" {
		ok, err := a.agree("Everything of this Hearth goes into " + line(path) + ", keys and identity included. It answers nobody from " +
			"then on, until\nthe file is imported elsewhere or `hearth move wake` is run here. Go on? [y/N] ")
		if err != nil || !ok {
			return errors.Join(err, a.declined())
		}
	}
	var pass string
	if a.InTerminal {
		pass, err = a.newPassphrase("the file")
	} else {
		pass, err = a.passphrase("")
	}
	if err != nil {
		return err
	}
	if _, err := backup.LockBy(secret.New(pass)); err != nil {
		return &failure{exitFailure, err.Error(), "nothing was changed"}
	}
	var out protocol.MoveExported
	if running {
		out, err = exportRunning(ctx, a, protocol.MoveExportParams{Path: path, Passphrase: pass})
	} else {
		out, err = exportStopped(ctx, a, path, secret.New(pass))
	}
	if err != nil {
		f := explain(err)
		return &failure{exitFailure, f.message, "this Hearth sleeps if it did before the error: `hearth move status`. `hearth move " +
			"export` tries again, `hearth move wake` wakes it"}
	}
	return a.done(out, fmt.Sprintf("%s holds everything: %s, %s. This Hearth sleeps now.\nOn the other machine: `hearth move import "+
		"FILE`, with the passphrase. Use the file on one machine only.", line(out.Path), count(out.Files, "file"), size(out.Bytes)))
}

// newFile: a file can be made at path, where there is none.
func newFile(path string) error {
	if err := noFolder(path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return &failure{exitFailure, line(path) + " is there already", "name a file that is not there yet; nothing was changed"}
	}
	try, err := os.CreateTemp(filepath.Dir(path), ".hearth-*")
	if err != nil {
		return &failure{exitFailure, "no file can be made in " + line(filepath.Dir(path)) + ": " + line(cause(err).Error()),
			"name a folder that is there and that you may write to; nothing was changed"}
	}
	return errors.Join(try.Close(), os.Remove(try.Name()))
}

// exportRunning has the gateway fall asleep and make the file.
func exportRunning(ctx context.Context, a *app, p protocol.MoveExportParams) (out protocol.MoveExported, err error) {
	var st protocol.MoveStatus
	var refused *protocol.Error
	if err := a.callSlowly(ctx, protocol.MethodMoveLeave, nil, &st); errors.As(err, &refused) || ctx.Err() != nil {
		return out, err // else it ended before it answered, and what it is now is seen below
	}
	patience := time.After(time.Minute)
	for {
		err := a.callSlowly(ctx, protocol.MethodMoveExport, p, &out)
		var said *protocol.Error
		if err == nil || errors.As(err, &said) && !strings.Contains(said.Message, "is awake") {
			return out, err
		}
		select {
		case <-time.After(100 * time.Millisecond): // it starts again, asleep
		case <-patience:
			return out, err
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

// exportStopped makes the file while no gateway runs.
func exportStopped(ctx context.Context, a *app, path string, pass secret.Secret) (out protocol.MoveExported, err error) {
	dir, err := a.stopped()
	if err != nil {
		return out, err
	}
	lock, err := backup.LockBy(pass)
	if err != nil {
		return out, err
	}
	here := move.Stopped{
		Dir: dir, Config: dir.Config(a.Env), Settings: a.settingsOptions(), Home: statedir.Home(a.Env), Version: a.Version,
		Values: func(ctx context.Context) ([]byte, error) {
			k, err := a.keeper(ctx)
			if err != nil || k.VaultLocked() { // the vault's file goes along, and opens with its own passphrase
				return nil, err
			}
			return backup.Values(ctx, k)
		},
	}
	made, err := here.Export(ctx, backup.Sealing{Path: path, To: lock, Now: time.Now()})
	return protocol.MoveExported{Path: path, Bytes: made.Bytes, Files: made.Files, Source: made.Source}, err
}

func wakeMove(ctx context.Context, a *app, sure bool) error {
	st, running, err := a.moveState(ctx)
	if err != nil {
		return err
	}
	if st.Phase == "awake" || st.Phase == "offered" {
		return &failure{exitFailure, "this Hearth is awake", ""}
	}
	if st.Phase == move.Left && !sure {
		if !a.InTerminal {
			return &failure{exitRefused, move.SureWords, "`hearth move wake --sure` wakes it all the same"}
		}
		if sure, err = a.agree(move.SureWords + "\nIs Hearth stopped for good on the other machine? [y/N] "); err != nil || !sure {
			return errors.Join(err, &failure{exitFailure, "it sleeps on", ""})
		}
	}
	if running {
		err = a.callSlowly(ctx, protocol.MethodMoveWake, protocol.MoveWakeParams{Sure: sure}, &st)
		var refused *protocol.Error
		if dir, derr := a.dir(); err != nil && !errors.As(err, &refused) && derr == nil && !move.Asleep(dir).Sleeps() {
			err = nil // it ended before it answered, to start awake
		}
	} else {
		var dir statedir.Dir
		if dir, err = a.dir(); err == nil {
			err = move.Wake(ctx, dir, sure)
		}
	}
	if errors.Is(err, move.ErrUnfinished) {
		return &failure{exitFailure, err.Error(), "`hearth move import --finish` goes on; or `hearth backup undo` goes back to what was " +
			"here, and then `hearth move wake`"}
	}
	if err != nil {
		return err
	}
	words := "This Hearth is awake."
	if !running {
		words += " Start it as always."
	}
	return a.done(map[string]string{"phase": "awake"}, words)
}
