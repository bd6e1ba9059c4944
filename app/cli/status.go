package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show whether the gateway runs, and how it is", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runStatus(ctx, a) }),
	}
}

// statusJSON is stable: scripts read it.
type statusJSON struct {
	Running bool `json:"running"`
	*protocol.StatusDetail
	Sessions int            `json:"sessions"`
	Pause    protocol.Pause `json:"pause"`
}

func runStatus(ctx context.Context, a *app) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var s protocol.Status
	err := a.call(ctx, protocol.ScopeRead, protocol.MethodStatus, nil, &s)
	if errors.Is(err, statedir.ErrNotRunning) && a.asJSON {
		if err := a.out().json(map[string]bool{"running": false}); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(statusJSON{true, &s.Hearth, s.Sessions.Count, s.Pause})
	}
	return printStatus(a.out(), &s, a.errorWords())
}

// waits is "1 request waits", "2 requests wait".
func waits(n int) string {
	if n == 1 {
		return "1 request waits"
	}
	return fmt.Sprintf("%d requests wait", n)
}

func printStatus(out screen, s *protocol.Status, said func(string) string) error {
	h := &s.Hearth
	rows := [][2]string{
		{"Address", h.URL},
		{"Model", h.Model + " (" + h.ModelSource + ")"},
		{"Answers", fmt.Sprintf("%d running, %d waiting", h.ActiveRuns, h.QueuedRuns)},
		{"Sessions", fmt.Sprintf("%d, %s connected", s.Sessions.Count, count(h.Clients, "client"))},
		{"Up", fmt.Sprintf("%s, process %d", span(time.Duration(h.UptimeMs)*time.Millisecond), h.PID)},
		{"Memory", fmt.Sprintf("%s, database %s", size(h.ResidentBytes), size(h.StoreBytes))},
		{"Data", h.StateDir},
		{"Settings", h.ConfigPath},
	}
	parts := []any{green("●"), " ", bold("Hearth " + h.Version + " is running"), "\n"}
	for _, r := range rows {
		parts = append(parts, "  ", dim(fmt.Sprintf("%-9s", r[0])), " ", line(r[1]), "\n")
	}
	if s.Pause.Level != "off" && s.Pause.Level != "" {
		parts = append(parts, "  ", yellow("!"), " ", line(pauseWords(&s.Pause)), "\n")
	}
	if h.PendingApprovals > 0 {
		parts = append(parts, "  ", yellow("!"), fmt.Sprintf(" %s for your yes: `hearth approvals`\n", waits(h.PendingApprovals)))
	}
	if h.Undelivered > 0 {
		parts = append(parts, "  ", yellow("!"), fmt.Sprintf(" %s not delivered yet\n", count(h.Undelivered, "answer")))
	}
	for _, p := range h.Problems {
		parts = append(parts, "  ", yellow("!"), " ", line(said(p.Message)), "\n")
	}
	return out.print(parts...)
}
