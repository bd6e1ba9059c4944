package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

type logsOptions struct {
	follow bool
	lines  int
}

func newLogs(a *app) *cobra.Command {
	var o logsOptions
	c := &cobra.Command{
		Use:   "logs",
		Short: "Show the gateway's log, also while it is not running",
		Long: `Show the gateway's log, also while it is not running.

With --json, the lines are printed as they are stored: one JSON object each.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runLogs(ctx, a, o) }),
	}
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on with new lines until Ctrl-C, also over restarts")
	c.Flags().IntVarP(&o.lines, "lines", "n", 100, "how many lines to begin with, at most 5000")
	return c
}

const logPoll = 300 * time.Millisecond

func runLogs(ctx context.Context, a *app, o logsOptions) error {
	if o.lines < 0 || o.lines > 5000 {
		return usage("--lines must be between 0 and 5000")
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	src := &logSource{app: a, path: dir.Log()}
	defer src.close()
	t, err := src.tail(ctx, nil, max(1, o.lines))
	if err != nil {
		return err
	}
	lines := t.Lines[max(0, len(t.Lines)-o.lines):]
	for {
		for _, l := range lines {
			if err := a.printLog(l); err != nil {
				return err
			}
		}
		if !o.follow {
			return nil
		}
		if len(lines) == 0 || t.Cursor >= t.Size {
			if sleep.For(ctx, logPoll) != nil {
				return nil // Ctrl-C is how one ends this
			}
		}
		if t, err = src.tail(ctx, &t.Cursor, 5000); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		lines = t.Lines
	}
}

// logSource reads the log through the gateway while there is one, and from the
// file otherwise: the log matters most when the gateway does not run.
type logSource struct {
	app  *app
	path string
	c    *client.Client
	file bool
}

func (s *logSource) tail(ctx context.Context, cursor *int64, limit int) (t protocol.LogsTail, err error) {
	if !s.file && s.c == nil {
		s.c, err = s.app.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
		if err != nil && !errors.Is(err, statedir.ErrNotRunning) && !errors.Is(err, client.ErrLost) {
			return t, err
		}
		s.file = err != nil
	}
	if !s.file {
		err = s.c.Call(ctx, protocol.MethodLogsTail, protocol.LogsTailParams{Cursor: cursor, Limit: limit}, &t)
		if !errors.Is(err, client.ErrLost) {
			return t, err
		}
		s.file = true // the cursor is a place in the same file
	}
	return tailFile(s.path, cursor, limit)
}

func (s *logSource) close() {
	if s.c != nil {
		_ = s.c.Close()
	}
}

// printLog prints one stored line for people; with --json, or when it is not
// JSON, as it is.
func (a *app) printLog(l string) error {
	var rec map[string]json.RawMessage
	if err := json.Unmarshal([]byte(l), &rec); err != nil || a.asJSON {
		if a.asJSON {
			return a.out().rawJSON([]byte(l), nil)
		}
		return a.out().print(line(l), "\n")
	}
	text := func(k string) string {
		var s string
		if json.Unmarshal(rec[k], &s) != nil {
			s = string(rec[k])
		}
		return s
	}
	when := text("time")
	if t, err := time.Parse(time.RFC3339Nano, when); err == nil {
		when = t.Local().Format("01-02 15:04:05.000")
	}
	level := text("level")
	look := dim
	switch {
	case strings.HasPrefix(level, "ERR"):
		look = red
	case strings.HasPrefix(level, "WARN"):
		look = yellow
	}
	parts := []any{dim(line(when)), " ", look(fmt.Sprintf("%-5s", line(level))), " ", line(text("msg"))}
	var keys []string
	for k := range rec {
		if k != "time" && k != "level" && k != "msg" {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		parts = append(parts, " ", dim(line(k)+"="), line(text(k)))
	}
	return a.out().print(append(parts, "\n")...)
}
