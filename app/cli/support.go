package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/support"
)

func newSupport(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "support", Short: "Write a report for somebody who helps, without secrets and without your words", Args: cobra.NoArgs,
		Long: "Write a report for somebody who helps: versions, sizes, which checks of `hearth doctor` are\n" +
			"not well, and the log with its fixed words and numbers only. No message, name, path,\n" +
			"setting or key is in it. Read it before you send it: it is a text.",
		RunE: a.run(func(ctx context.Context, _ []string) error { return writeSupport(ctx, a, out) }),
	}
	c.Flags().StringVar(&out, "out", "", "write it to `FILE` (default: hearth-support-DATE.txt here)")
	return c
}

func writeSupport(ctx context.Context, a *app, out string) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	now := time.Now()
	if out == "" {
		out = "hearth-support-" + now.Format("20060102-150405") + ".txt"
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(out)); err != nil {
		return unwritable(out, err)
	}
	if err := newFile(out); err != nil {
		return err
	}
	r := support.Report{Version: a.Version, System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), At: now}
	var st protocol.Status
	if a.call(ctx, protocol.ScopeRead, protocol.MethodStatus, nil, &st) == nil {
		r.Status = &st.Hearth
	}
	d := &doctor{a: a, out: protocol.Doctor{OK: true}}
	if snap, err := a.settings(ctx); err == nil {
		d.settings(ctx, snap)
		d.folder(dir)
		d.room(dir)
		d.secrets(ctx, snap)
		d.gateway(ctx, snap, false)
		d.leftovers(dir)
	}
	r.Checks = d.out.Checks
	if log, err := os.Open(dir.Log()); err == nil {
		defer func() { _ = log.Close() }()
		if r.Log, err = support.Log(log); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
	}
	if err := statedir.WriteFile(out, r.Text()); err != nil {
		return unwritable(out, err)
	}
	return a.done(map[string]string{"file": out}, "Written to "+line(out)+". Read it before you send it.")
}
