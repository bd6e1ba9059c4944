package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/recovery"
)

func newStore(a *app) *cobra.Command {
	var yes bool
	restore := &cobra.Command{
		Use: "restore", Short: "Put the last good copy in the place of the database", Args: cobra.NoArgs,
		Long: "Put the last good copy of the database (hearth.db.last-good, made once a day) in its\n" +
			"place. It asks first. What was there is kept beside it, under a name with the date.",
		RunE: a.run(func(context.Context, []string) error { return runStoreRestore(a, yes) }),
	}
	restore.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	var out string
	export := &cobra.Command{
		Use: "export", Short: "Write all conversations that can be read as JSON lines", Args: cobra.NoArgs,
		Long: "Write all conversations that can be read from the database as JSON lines, also when it\n" +
			"is damaged; the format is that of `hearth sessions export`. What looks like a key is\n" +
			"hidden. Nothing is changed. A conversation whose session cannot be found any more is\nnamed lost:ID.",
		RunE: a.run(func(context.Context, []string) error { return runStoreExport(a, out) }),
	}
	export.Flags().StringVarP(&out, "out", "o", "", "write to this `FILE` instead of standard output")
	return group("store", "Look at the database, check it, make it smaller, save what can be read, restore it",
		&cobra.Command{Use: "status", Short: "Say how large the database is, and when all of it was read", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return storeStatus(ctx, a) })},
		&cobra.Command{Use: "check", Short: "Read all of the database, and say what is damaged", Args: cobra.NoArgs,
			Long: "Read all of the database, and say what is damaged. A running gateway does it in the\nbackground, and keeps nobody waiting.",
			RunE: a.run(func(ctx context.Context, _ []string) error { return checkStore(ctx, a) })},
		&cobra.Command{Use: "compact", Short: "Give back what the database does not use", Args: cobra.NoArgs,
			Long: "Write the database anew without the room that removed messages have left in it. The new\none takes the place of the old one " +
				"when every record of it can be read. A running gateway\ndoes it in the background, beside everybody who reads and writes; " +
				"on Windows it has to be stopped first.",
			RunE: a.run(func(ctx context.Context, _ []string) error { return compactStore(ctx, a) })},
		export, restore)
}

// stopFirst explains what works only while no gateway runs.
func stopFirst(err error) error {
	if errors.Is(err, recovery.ErrRunning) {
		return &failure{exitFailure, "the gateway is running", "stop it first; while it runs, `hearth doctor` says how the database is and " +
			"`hearth sessions export` writes conversations"}
	}
	return err
}

func runStoreCheck(a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	r, err := recovery.Look(dir)
	if err != nil {
		return stopFirst(err)
	}
	if a.asJSON {
		if err := a.out().json(r); err != nil {
			return err
		}
	} else if r.OK {
		return a.out().print(green("ok"), "  ", line(r.Path)+": "+count(r.Records, "record")+", all of them can be read\n")
	}
	if r.OK {
		return nil
	}
	if _, err := os.Stat(dir.Store()); errors.Is(err, os.ErrNotExist) && r.LastGood == "" {
		return &failure{exitFailure, r.Problem, "the first start of `hearth gateway` makes one; HEARTH_HOME names the folder to look in"}
	}
	hint := "`hearth store export` writes the conversations that can be read"
	if r.LastGood != "" {
		hint += "; `hearth store restore` takes the copy of " + r.CopiedAt.Format("2 January 15:04")
	}
	return &failure{exitFailure, fmt.Sprintf("%s (%s can be read)", r.Problem, count(r.Records, "record")), hint}
}

func runStoreExport(a *app, out string) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	n, damaged, sessions := 0, 0, map[string]bool{}
	write := func(w io.Writer) (err error) {
		to := screen{w: w}
		damaged, err = recovery.Export(dir.Store(), func(m recovery.Message) error {
			n++
			sessions[m.SessionKey] = true
			return to.jsonLine(exportLine{m.SessionKey, m.Message})
		})
		return err
	}
	if out == "" || out == "-" {
		err = write(a.Out)
	} else {
		err = writeWhole(out, write)
	}
	if errors.Is(err, os.ErrNotExist) {
		return &failure{exitFailure, "there is no database at " + dir.Store(), "HEARTH_HOME names the folder to look in"}
	}
	if err != nil {
		return err
	}
	words := fmt.Sprintf("%s of %s", count(n, "message"), count(len(sessions), "session"))
	if damaged > 0 {
		words += fmt.Sprintf("; %s of the conversations could not be read (`hearth store check` counts those of all of the database)",
			pagesOrRecords(damaged))
	}
	return a.errs().print(dim(words), "\n")
}

func pagesOrRecords(n int) string {
	if n == 1 {
		return "1 page or record"
	}
	return strconv.Itoa(n) + " pages or records"
}

func runStoreRestore(a *app, yes bool) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	r, err := recovery.Look(dir)
	if err != nil {
		return stopFirst(err)
	}
	if r.LastGood == "" {
		return &failure{exitFailure, "there is no copy at " + dir.LastGood(), "Hearth makes one each day while it runs and the disk has room; " +
			"restore " + r.Path + " from a backup of yours"}
	}
	if !yes {
		state := "The database is in order (" + count(r.Records, "record") + ")."
		if !r.OK {
			state = "The database: " + line(r.Problem) + "."
		}
		ok, err := a.agree(state + "\nThe copy is of " + r.CopiedAt.Format("2 January 2006 15:04") + "; what was said since then is not in " +
			"it.\nPut it in the place of the database? What is there now is kept. [y/N] ")
		if err != nil {
			return err
		}
		if !ok {
			return a.declined()
		}
	}
	kept, err := recovery.Restore(dir, time.Now())
	if err != nil {
		return stopFirst(err)
	}
	words := "The copy of " + r.CopiedAt.Format("2 January 15:04") + " is the database now."
	if kept != "" {
		words += " What was there is " + line(kept) + "."
	}
	return a.done(map[string]string{"kept": kept}, words)
}
