package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func newMoveFrom(a *app) *cobra.Command {
	var o arriving
	c := &cobra.Command{
		Use: "from [CODE|NAME|ADDRESS]", Short: "Bring a Hearth from another machine to this one", Args: cobra.MaximumNArgs(1),
		Long: "Bring a Hearth from another machine to this one, where no gateway may run meanwhile.\n" +
			"There, `hearth move send` shows the code; or name that gateway, or give its address, and\n" +
			"compare the six digits on both screens. Cut short, the same command without an argument\n" +
			"goes on. What is here is kept aside; `hearth backup undo` brings it back.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			where := ""
			if len(args) == 1 {
				where = args[0]
			}
			return moveFrom(ctx, a, where, o)
		}),
	}
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.withoutKeys, "without-keys", false, "go on when keys and passwords cannot be kept here")
	c.Flags().BoolVar(&o.giveUp, "give-up", false, "forget a move to this machine that was not finished")
	return c
}

func newMoveImport(a *app) *cobra.Command {
	var o arriving
	c := &cobra.Command{
		Use: "import FILE", Short: "Put a Hearth from a file of `hearth move export` on this machine", Args: cobra.MaximumNArgs(1),
		Long: "Put a Hearth from a file of `hearth move export` on this machine, where no gateway may\n" +
			"run meanwhile. What is here is kept aside; `hearth backup undo` brings it back. The\n" +
			"passphrase is asked for, or read from standard input.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			if o.finish {
				return finishMove(ctx, a, o)
			}
			if len(args) != 1 {
				return usage("name the file that `hearth move export` made")
			}
			return importMove(ctx, a, args[0], o)
		}),
	}
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.finish, "finish", false, "finish a move to this machine that was cut short")
	c.Flags().BoolVar(&o.withoutKeys, "without-keys", false, "go on when keys and passwords cannot be kept here")
	return c
}

type arriving struct{ yes, finish, withoutKeys, giveUp bool }

// agreePlace asks whether what is here may be put aside.
func (a *app) agreePlace(dir statedir.Dir, o arriving) error {
	if _, err := os.Lstat(dir.Store()); err != nil || o.yes {
		return nil
	}
	ok, err := a.agree("There is a Hearth on this machine already, in " + line(string(dir)) + ". It is put aside, and `hearth backup undo` " +
		"brings it back. Go on? [y/N] ")
	if err != nil || !ok {
		return errors.Join(err, a.declined())
	}
	return nil
}

func importMove(ctx context.Context, a *app, file string, o arriving) error {
	dir, err := a.stopped()
	if err != nil {
		return err
	}
	if s := move.Asleep(dir); s.Sleeps() && s.Phase != move.Arriving {
		return &failure{exitFailure, "the Hearth that is here sleeps, because it was moved away", "`hearth move status` says more; `hearth " +
			"move wake` wakes it, which you want when this is the file that it was moved into"}
	}
	if _, err := os.Stat(file); err != nil {
		return &failure{exitFailure, "there is no file at " + line(file), "`hearth move export FILE` on the other machine makes it"}
	}
	if err := a.agreePlace(dir, o); err != nil {
		return err
	}
	pass, err := a.passphrase("Passphrase of " + line(file) + ": ")
	if err != nil {
		return err
	}
	key, err := backup.KeyBy(secret.New(pass))
	if err != nil {
		return err
	}
	return a.putMove(ctx, dir, file, "file:"+file, key, o)
}

// putMove unpacks, puts everything in its place, and wakes it.
func (a *app) putMove(ctx context.Context, dir statedir.Dir, file, id string, key backup.Key, o arriving) error {
	if err := dir.Ensure(); err != nil {
		return err
	}
	s, err := restore.Stage(ctx, restore.Options{
		Dir: dir, Config: dir.Config(a.Env), Home: statedir.Home(a.Env), File: file, Key: key, Now: time.Now(), Moved: true,
	})
	if err != nil {
		f := explain(asBackupFailure(err))
		return &failure{exitFailure, f.message, "nothing was changed here, and the other machine sleeps on; try again"}
	}
	if err := move.Put(dir, id, s); err != nil {
		return &failure{exitFailure, line(err.Error()), "`hearth move import --finish` goes on"}
	}
	return finishMove(ctx, a, o)
}

// finishMove ends a move to this machine.
func finishMove(ctx context.Context, a *app, o arriving) error {
	dir, err := a.stopped()
	if err != nil {
		return err
	}
	j, err := move.Finish(dir, func(values []byte) error {
		err := a.keepValues(ctx, values)
		if err != nil && o.withoutKeys {
			_ = a.errs().print(yellow("! "), "Keys and passwords were not kept: ", line(err.Error()), "\n")
			return nil
		}
		return err
	})
	switch {
	case errors.Is(err, move.ErrAwake):
		return &failure{exitFailure, "there is no move to this machine to finish", ""}
	case errors.Is(err, move.ErrAgain):
		return &failure{exitFailure, err.Error(),
			"`hearth move from`, or `hearth move import FILE`, does it again; `hearth move wake` gives it up"}
	case errors.Is(err, move.ErrUnfinished):
		return &failure{exitFailure, line(err.Error()), "unlock the place for keys (`hearth secrets unlock`), then `hearth move import " +
			"--finish`; or --without-keys, and set them anew"}
	case err != nil:
		return &failure{exitFailure, line(err.Error()), "`hearth move import --finish` goes on"}
	}
	words := "This Hearth lives here now, as it was on " + j.Saved.Local().Format("2 January 2006 15:04") + ". Start it as always."
	for _, m := range j.Moves {
		if _, err := os.Lstat(m.Old); err == nil {
			words += "\nWhat was here before is kept: " + line(m.Old)
		}
	}
	if k, err := a.keeper(ctx); err == nil && k.VaultLocked() {
		words += "\n" + vaultCame
	}
	return a.done(j, words)
}

// keepValues puts keys that came where keys are kept here.
func (a *app) keepValues(ctx context.Context, raw []byte) error {
	var values map[string]string
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	if len(values) == 0 {
		return nil
	}
	k, err := a.keeper(ctx)
	if err != nil || k.VaultLocked() { // the vault came along, with all that is in it
		return err
	}
	for name, v := range values {
		if err := k.Set(ctx, name, secret.New(v)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// moveFrom brings a Hearth over the network.
func moveFrom(ctx context.Context, a *app, where string, o arriving) error {
	dir, err := a.stopped()
	if err != nil {
		return err
	}
	if o.giveUp {
		if err := move.Forget(dir); err != nil {
			return &failure{exitFailure, "it has the key of the other machine already", "`hearth move from` goes on"}
		}
		return a.done(map[string]bool{"ok": true}, "Forgotten. On the other machine `hearth move wake` wakes Hearth, if it sleeps.")
	}
	coming, on := move.ReadComing(dir)
	if where == "" && !on {
		return usage("give the code that `hearth move send` shows on the other machine, or the name or address of its gateway")
	}
	if err := a.agreePlace(dir, o); err != nil {
		return err
	}
	if where != "" {
		if coming.From, err = a.pairToMove(ctx, dir, where); err != nil {
			return err
		}
	}
	l, err := a.moveLink(ctx, dir, coming.From)
	if err != nil {
		return err
	}
	defer l.close()
	if _, has := move.Key(dir); !has || !on {
		if coming, err = l.bring(ctx, dir, coming.From); err != nil {
			return err
		}
	}
	// Asked again, it gives the same: one that was woken meanwhile says so.
	key, err := l.key(ctx, dir, coming)
	if err != nil {
		return err
	}
	if err := a.putMove(ctx, dir, move.Incoming(dir), coming.ID, key, o); err != nil {
		return err
	}
	l.tell(ctx, coming.ID)
	return nil
}

// pairToMove pairs with a gateway, unless it is one that is paired already, and
// returns what it is called here.
func (a *app) pairToMove(ctx context.Context, dir statedir.Dir, where string) (string, error) {
	if r, err := client.FindRemote(dir, where); err == nil {
		return r.ID, nil
	}
	quiet := *a
	quiet.Out = io.Discard
	var err error
	if where == "-" || isSetupCode(where) {
		err = runConnect(ctx, &quiet, where, "")
	} else {
		err = connectByDigits(ctx, &quiet, where, "")
	}
	if err != nil {
		return "", err
	}
	all, err := client.Remotes(dir)
	if err != nil || len(all) == 0 {
		return "", errors.Join(err, errors.New("the gateway that was paired is not on the list"))
	}
	newest := all[0]
	for _, r := range all {
		if r.PairedAtMs >= newest.PairedAtMs {
			newest = r
		}
	}
	return newest.ID, nil
}

// patienceForOther is how long the other machine may be away: it starts again once.
const patienceForOther = 3 * time.Minute

// moveLink is the connection to the other machine, made anew when it breaks. It holds
// what that takes in memory, since the files of it change places.
type moveLink struct {
	a      *app
	remote client.Remote
	me     *client.Identity
	c      *client.Client
	bar    progress
}

func (a *app) moveLink(ctx context.Context, dir statedir.Dir, name string) (*moveLink, error) {
	r, err := client.FindRemote(dir, name)
	if err != nil {
		return nil, err
	}
	me, err := client.RemoteIdentity(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &moveLink{a: a, remote: r, me: me, bar: progress{a: a}}, nil
}

func (l *moveLink) close() {
	l.bar.end()
	if l.c != nil {
		_ = l.c.Close()
	}
}

// call asks the other machine, again while it is away.
func (l *moveLink) call(ctx context.Context, patience time.Duration, method string, params, res any) error {
	late := time.After(patience)
	for {
		err := l.once(ctx, method, params, res)
		var said *protocol.Error
		if err == nil || ctx.Err() != nil || errors.As(err, &said) && !said.Retryable && said.Code != protocol.CodeUnavailable {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-late:
			return &failure{exitFailure, "the other machine does not answer: " + line(err.Error()),
				"what was brought is kept; `hearth move from` goes on"}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *moveLink) once(ctx context.Context, method string, params, res any) error {
	if l.c == nil {
		o := l.a.remoteOptions(client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}, Device: l.me,
			Auth: &protocol.Auth{DeviceToken: l.remote.DeviceToken}})
		c, _, err := client.DialPinned(ctx, l.remote.URLs, l.remote.Pins, nil, o)
		if err != nil {
			return err
		}
		l.c = c
	}
	err := l.c.Call(ctx, method, params, res)
	var said *protocol.Error
	if err != nil && !errors.As(err, &said) {
		_ = l.c.Close()
		l.c = nil
	}
	return err
}

// bring brings everything, from where an earlier try ended.
func (l *moveLink) bring(ctx context.Context, dir statedir.Dir, from string) (move.Coming, error) {
	var begun protocol.MoveBegun
	if err := l.call(ctx, patienceForOther, protocol.MethodMoveBegin, nil, &begun); err != nil {
		return move.Coming{}, err
	}
	c := move.Coming{ID: begun.ID, From: from}
	if err := move.Expect(dir, c); err != nil {
		return c, err
	}
	st, err := l.packed(ctx, begun.ID)
	if err != nil {
		return c, err
	}
	c.Packed = move.Packed{Bytes: st.Bytes, SHA256: st.SHA256, Source: st.Source, Files: st.Files}
	if err := move.Expect(dir, c); err != nil {
		return c, err
	}
	if err := roomFor(dir, c); err != nil {
		return c, err
	}
	return c, move.Bring(ctx, dir, c, func(ctx context.Context, at int64) ([]byte, error) {
		var p protocol.MovePiece
		err := l.call(ctx, patienceForOther, protocol.MethodMovePiece, protocol.MovePieceParams{ID: c.ID, At: at}, &p)
		return p.Data, err
	}, func(have int64) { l.bar.show("brought", have, c.Bytes) })
}

// roomFor refuses before the other machine sleeps for good: the file and what is in
// it have to fit.
func roomFor(dir statedir.Dir, c move.Coming) error {
	free, ok := dir.Free()
	have := int64(0)
	if st, err := os.Stat(move.Incoming(dir)); err == nil {
		have = st.Size()
	}
	need := c.Bytes - have + c.Source + statedir.Full
	if ok && int64(free) < need {
		return &failure{exitFailure, fmt.Sprintf("the disk has %s free, and this Hearth needs %s", size(int64(free)), size(need)),
			"make room, then `hearth move from` goes on; or `hearth move wake` on the other machine wakes it there"}
	}
	return nil
}

// packed waits until the other machine has packed.
func (l *moveLink) packed(ctx context.Context, id string) (st protocol.MoveStatus, err error) {
	look := time.NewTicker(300 * time.Millisecond)
	defer look.Stop()
	for {
		if err := l.call(ctx, patienceForOther, protocol.MethodMoveStatus, nil, &st); err != nil {
			return st, err
		}
		switch {
		case st.ID != id:
			return st, &failure{exitFailure, "the other machine was woken, so nothing was moved", "`hearth move send` there offers it again"}
		case st.Packed:
			return st, nil
		case st.Error != "":
			return st, &failure{exitFailure, "the other machine cannot pack: " + line(st.Error), "mend that there; it tries again by itself, and " +
				"`hearth move from` goes on here. `hearth move wake` there wakes it"}
		}
		l.bar.show("packed", st.Have, 0)
		select {
		case <-look.C:
		case <-ctx.Done():
			return st, ctx.Err()
		}
	}
}

// key asks for the key of what came. The other machine is asleep for good before it
// answers; when it is not to be reached any more, the key that came before counts.
func (l *moveLink) key(ctx context.Context, dir statedir.Dir, c move.Coming) (backup.Key, error) {
	kept, has := move.Key(dir)
	patience := patienceForOther
	if has {
		patience = time.Second
	}
	var res protocol.MoveReleased
	err := l.call(ctx, patience, protocol.MethodMoveRelease, protocol.MoveReleaseParams{ID: c.ID, SHA256: c.SHA256}, &res)
	var said *protocol.Error
	switch {
	case err == nil:
		kept = secret.New(res.Key)
		if err := move.KeepKey(dir, kept); err != nil {
			return backup.Key{}, err
		}
	case errors.As(err, &said):
		return backup.Key{}, &failure{exitFailure, line(said.Message), "`hearth move from --give-up` forgets it here, and `hearth move " +
			"send` there begins anew"}
	case !has:
		return backup.Key{}, err
	}
	return backup.KeyText(kept)
}

// tell says to the other machine that this one is awake. It need not hear it.
func (l *moveLink) tell(ctx context.Context, id string) {
	var st protocol.MoveStatus
	if err := l.call(ctx, 5*time.Second, protocol.MethodMoveArrived, protocol.MoveArrivedParams{ID: id}, &st); err != nil {
		_ = l.a.errs().print(dim("The other machine was not told; it sleeps all the same.\n"))
	}
}
