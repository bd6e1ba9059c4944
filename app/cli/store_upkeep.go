package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// storeStatus tells how large the database is; only a running gateway knows more.
func storeStatus(ctx context.Context, a *app) error {
	var st protocol.StoreStatus
	err := a.call(ctx, protocol.ScopeRead, protocol.MethodStoreStatus, nil, &st)
	if errors.Is(err, statedir.ErrNotRunning) {
		dir, derr := a.dir()
		if derr != nil {
			return derr
		}
		bytes, serr := recovery.Size(dir)
		if serr != nil {
			return &failure{exitFailure, "there is no database at " + dir.Store(), "HEARTH_HOME names the folder to look in"}
		}
		return a.done(protocol.StoreStatus{Bytes: bytes}, "The database has "+size(bytes)+". `hearth store check` reads all of it.")
	}
	if err != nil {
		return err
	}
	return a.done(st, storeWords(st))
}

func storeWords(st protocol.StoreStatus) string {
	words := "The database has " + size(st.Bytes) + ", of which " + size(st.Free) + " are not in use"
	if st.Free > st.Bytes/4 && st.Free > 16<<20 {
		words += "; `hearth store compact` gives them back"
	}
	words += "."
	if st.CompactedAtMs > 0 && st.CompactProblem == "" && st.TaskID == "" {
		words += "\n" + size(st.GivenBack) + " were given back on " + time.UnixMilli(st.CompactedAtMs).Format("2 January 15:04") + "."
	}
	switch {
	case st.TaskKind == protocol.TaskStoreCompact:
		words += fmt.Sprintf("\nIt is being compacted: %d %%.", 100*st.Done/max(st.Total, 1))
	case st.TaskID != "":
		words += fmt.Sprintf("\nIt is being checked: %d %%.", 100*st.Done/max(st.Total, 1))
	case st.Problem != "":
		words += "\nThe check of " + time.UnixMilli(st.CheckedAtMs).Format("2 January 15:04") + " found: " + line(st.Problem)
	case st.CheckedAtMs > 0:
		words += "\nAll " + count(st.Records, "record") + " could be read on " + time.UnixMilli(st.CheckedAtMs).Format("2 January 15:04") + "."
	}
	return words
}

// checkStore has the running gateway check, or does it.
func checkStore(ctx context.Context, a *app) error {
	st, done, err := a.storeWork(ctx, protocol.MethodStoreCheck, "read", runStoreCheck)
	switch {
	case done || err != nil:
		return err
	case st.Problem != "":
		return &failure{exitFailure, st.Problem, "stop the gateway, then `hearth store check` says what is left"}
	}
	return a.done(st, storeWords(st))
}

// storeWork has the running gateway do something to the database, and shows how far
// it is. Without a gateway, stopped does it, and done says so.
func (a *app) storeWork(ctx context.Context, method, doing string, stopped func(*app) error) (st protocol.StoreStatus, done bool,
	err error) {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if errors.Is(err, statedir.ErrNotRunning) {
		return st, true, stopped(a)
	}
	if err != nil {
		return st, false, err
	}
	defer c.Close()
	if err := c.Call(ctx, method, nil, &st); err != nil {
		return st, false, err
	}
	bar := progress{a: a}
	defer bar.end()
	for st.TaskID != "" {
		bar.show(doing, st.Done, st.Total)
		if aMoment(ctx, pollStep) != nil {
			return st, false, errInterrupted // it goes on; `hearth tasks` can end it
		}
		var now protocol.StoreStatus
		if err := c.Call(ctx, protocol.MethodStoreStatus, nil, &now); err != nil {
			return st, false, err
		}
		st = now
	}
	return st, false, nil
}

// compactStore has the running gateway make the database smaller, or does it.
func compactStore(ctx context.Context, a *app) error {
	st, done, err := a.storeWork(ctx, protocol.MethodStoreCompact, "compacted", compactStopped)
	switch {
	case done || err != nil:
		return err
	case st.CompactProblem != "":
		return &failure{exitFailure, st.CompactProblem, "nothing was changed"}
	case st.CompactedAtMs == 0:
		return &failure{exitFailure, "it was ended before it was done", "nothing was changed; `hearth tasks` says by what"}
	}
	return a.done(map[string]int64{"before": st.Bytes + st.GivenBack, "after": st.Bytes},
		"The database had "+size(st.Bytes+st.GivenBack)+" and has "+size(st.Bytes)+" now.")
}

// compactStopped makes the database of a gateway that does not run smaller.
func compactStopped(a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	before, after, err := recovery.Compact(dir)
	switch {
	case errors.Is(err, recovery.ErrRunning):
		return stopFirst(err)
	case errors.Is(err, os.ErrNotExist):
		return &failure{exitFailure, "there is no database at " + dir.Store(), "HEARTH_HOME names the folder to look in"}
	case recovery.IsDamaged(err):
		return &failure{exitFailure, err.Error(), "nothing was changed; `hearth store check` says what is left, and what can be done"}
	case err != nil:
		return &failure{exitFailure, err.Error(), "nothing was changed"}
	}
	return a.done(map[string]int64{"before": before, "after": after}, "The database had "+size(before)+" and has "+size(after)+" now.")
}
