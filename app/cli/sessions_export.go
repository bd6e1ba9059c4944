package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

type exportOptions struct {
	all bool
	out string
}

func newSessionsExport(a *app) *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export [SESSION | --all]",
		Short: "Write conversations as JSON lines, one message a line",
		Long: `Write conversations as JSON lines, one message a line, oldest first. Every line
names its session.

With --out the file appears when it is complete: a cut-off export leaves the old
file as it was.`,
		Example: "  hearth sessions export --all --out hearth.jsonl\n" +
			"  hearth sessions export work | jq -r 'select(.role==\"assistant\").content[].text'",
		Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return runExport(ctx, a, o, args) }),
	}
	c.Flags().BoolVar(&o.all, "all", false, "every session")
	c.Flags().StringVarP(&o.out, "out", "o", "", "write to this `FILE` instead of standard output")
	return c
}

// exportLine is a transcript entry with the session that it belongs to.
type exportLine struct {
	SessionKey string `json:"sessionKey"`
	protocol.Message
}

func runExport(ctx context.Context, a *app, o exportOptions, args []string) error {
	if o.all && len(args) == 1 {
		return usage("give a session or --all, not both")
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	keys := []string{mainSession(c.Hello())}
	if len(args) == 1 {
		keys = args
	}
	if o.all {
		keys = nil
		_, err := eachSession(ctx, c, sessionsListOptions{}, func(r protocol.SessionRow) error { keys = append(keys, r.Key); return nil })
		if err != nil {
			return err
		}
	}
	n := 0
	write := func(w io.Writer) error {
		for _, key := range keys {
			m, err := exportSession(ctx, c, w, key)
			if isMissing(err) {
				return noSession(key)
			}
			if n += m; err != nil {
				return err
			}
			if m == 0 && len(args) == 1 {
				return mustExist(ctx, c, key)
			}
		}
		return nil
	}
	if o.out == "" || o.out == "-" {
		return write(a.Out)
	}
	if err := writeWhole(o.out, write); err != nil {
		return err
	}
	return a.errs().print(dim(fmt.Sprintf("%s of %s in %s", count(n, "message"), count(len(keys), "session"), o.out)), "\n")
}

func exportSession(ctx context.Context, c *client.Client, w io.Writer, key string) (n int, err error) {
	out := screen{w: w}
	for after := int64(0); ; {
		var page protocol.TranscriptExport
		err := c.Call(ctx, protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: key, After: after, Limit: 500}, &page)
		if err != nil {
			return n, err
		}
		for i := range page.Messages {
			m := &page.Messages[i]
			if err := out.jsonLine(exportLine{page.Key, *m}); err != nil {
				return n, err
			}
			n++
			if m.Meta != nil {
				after = m.Meta.Seq
			}
		}
		if !page.HasMore || len(page.Messages) == 0 {
			return n, nil
		}
	}
}

// isMissing: the gateway has nothing of the name that it was asked for.
func isMissing(err error) bool {
	var refusal *protocol.Error
	return errors.As(err, &refusal) && refusal.Details["code"] == "NOT_FOUND"
}

// mustExist tells an empty session from one that is not there.
func mustExist(ctx context.Context, c *client.Client, key string) error {
	var r protocol.SessionsGetResult
	if err := c.Call(ctx, protocol.MethodSessionsGet, protocol.SessionKeyParams{Key: key, Limit: 1}, &r); err != nil {
		return err
	}
	if r.Session == nil {
		return noSession(key)
	}
	return nil
}

// writeWhole makes or replaces a file in one step, for its owner only: whoever
// looks sees the old content or all of the new one.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	if err := noFolder(path); err != nil {
		return err
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return writeInto(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return unwritable(path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(f, 64<<10)
	if err = write(b); err != nil {
		return err
	}
	if err = errors.Join(b.Flush(), f.Sync(), f.Close()); err != nil {
		return unwritable(path, err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// writeInto writes to what is no file, such as a device or another program's pipe; it stays
// what it is.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return unwritable(path, err)
	}
	b := bufio.NewWriterSize(f, 64<<10)
	if err := write(b); err != nil {
		_ = f.Close()
		return err
	}
	if err := errors.Join(b.Flush(), f.Close()); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// noFolder refuses a folder where the name of a file belongs.
func noFolder(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return &failure{exitUsage, line(path) + " is a folder, and the name of a file is wanted",
			"write the file's name behind it; nothing was changed"}
	}
	return nil
}

// unwritable says why a file could not be written: mostly its folder is not there.
func unwritable(path string, err error) error {
	dir := filepath.Dir(path)
	if _, serr := os.Stat(dir); errors.Is(serr, fs.ErrNotExist) {
		return &failure{exitFailure, "there is no folder " + line(dir), "make it first, or name a file in another one"}
	}
	return fmt.Errorf("cannot write %s: %w", path, cause(err))
}

// cause is a file error without the name of the temporary file.
func cause(err error) error { return statedir.Cause(err) }
