package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

type tasksOptions struct{ runtime, status string }

func newTasks(a *app) *cobra.Command {
	var o tasksOptions
	list := func(ctx context.Context, _ []string) error { return listTasks(ctx, a, o) }
	one := func(use, short string, do func(ctx context.Context, a *app, name string) error) *cobra.Command {
		return &cobra.Command{Use: use + " TASK", Short: short, Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return do(ctx, a, args[0]) })}
	}
	const most = 10
	several := func(use, short, method, done string) *cobra.Command {
		return &cobra.Command{Use: use + " TASK…", Short: short, Args: cobra.RangeArgs(1, most),
			RunE: a.run(func(ctx context.Context, args []string) error { return doTasks(ctx, a, method, done, args) })}
	}
	c := group("tasks", "See what works in the background, end it, do it again",
		&cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List background work, the newest first", Args: cobra.NoArgs,
			RunE: a.run(list)},
		one("show", "Show a task, by its id, its run or its conversation", showTask),
		one("cancel", "End a task early", cancelTask),
		several("retry", "Do again what failed or was cancelled", protocol.MethodTasksRetry, "Done again"),
		several("dismiss", "Take what is over off the list", protocol.MethodTasksDismiss, "Off the list"),
	)
	c.PersistentFlags().StringVar(&o.runtime, "runtime", "", "only these: subagent, cron, download, skill, import")
	c.PersistentFlags().StringVar(&o.status, "status", "", "only these: queued, running, completed (succeeded), failed, cancelled, timed_out")
	c.RunE = a.run(list)
	return c
}

// eachTask pages through the tasks.
func eachTask(ctx context.Context, c *client.Client, p protocol.TasksListParams) (all []protocol.TaskView, err error) {
	const page, most = 500, 5000
	p.Limit = page
	for len(all) < most {
		var res protocol.TaskViews
		if err := c.Call(ctx, protocol.MethodTaskViews, p, &res); err != nil {
			return nil, err
		}
		all = append(all, res.Tasks...)
		if res.NextCursor == "" || res.NextCursor == p.Cursor {
			break
		}
		p.Cursor = res.NextCursor
	}
	return all, nil
}

func listTasks(ctx context.Context, a *app, o tasksOptions) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	var p protocol.TasksListParams
	if status := map[string]string{"succeeded": protocol.TaskCompleted, "lost": protocol.TaskFailed}[o.status]; status != "" {
		p.Status = protocol.TaskStatuses{status}
	} else if o.status != "" {
		p.Status = protocol.TaskStatuses{o.status}
	}
	all, err := eachTask(ctx, c, p)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(t protocol.TaskView) bool {
		return o.runtime != "" && t.Runtime != o.runtime || o.status == "lost" && !t.Hearth.Interrupted
	})
	if a.asJSON {
		return a.out().json(map[string]any{"tasks": append([]protocol.TaskView{}, all...), "total": len(all)})
	}
	if len(all) == 0 {
		return a.out().print("Nothing works in the background, and nothing did.\n")
	}
	now := time.Now()
	var rows [][]string
	for i := range all {
		t := &all[i]
		rows = append(rows, []string{taskShort(t.ID), t.Runtime, taskState(t, now), moment(t.CreatedAt, now), text.Ellipsis(line(t.Title), 60)})
	}
	return a.out().table([]string{"ID", "KIND", "STATE", "BEGAN", "NAME"}, rows)
}

// taskShort is the end of an id: those of a job's runs begin alike.
func taskShort(id string) string {
	const enough = 8
	id = line(id)
	return id[max(0, len(id)-enough):]
}

func taskState(t *protocol.TaskView, now time.Time) string {
	switch t.Status {
	case protocol.TaskQueued:
		return "waits"
	case protocol.TaskRunning:
		if t.Hearth.Total > 0 {
			const whole = 100
			return fmt.Sprintf("running, %d%%", min(t.Hearth.Done*whole/t.Hearth.Total, whole))
		}
		return "running"
	case protocol.TaskCompleted:
		return "done " + moment(t.EndedAt, now)
	case protocol.TaskTimedOut:
		return "took too long"
	}
	if t.Hearth.Interrupted {
		return "interrupted"
	}
	return t.Status
}

// dialTasks connects and finds tasks by their ids, the ends of ids, their runs or
// conversations; the caller closes c.
func dialTasks(ctx context.Context, a *app, names []string, scopes ...protocol.Scope) (*client.Client, []protocol.TaskView, error) {
	c, err := a.dial(ctx, client.Options{Scopes: append(scopes, protocol.ScopeRead)})
	if err != nil {
		return nil, nil, err
	}
	all, err := eachTask(ctx, c, protocol.TasksListParams{})
	var found []protocol.TaskView
	for _, name := range names {
		if err != nil {
			break
		}
		var t protocol.TaskView
		if t, err = taskNamed(all, name); err == nil {
			found = append(found, t)
		}
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, found, nil
}

func taskNamed(all []protocol.TaskView, name string) (protocol.TaskView, error) {
	var hits []protocol.TaskView
	for _, t := range all {
		switch name {
		case "":
		case t.ID:
			return t, nil
		case taskShort(t.ID), t.RunID, t.ChildSessionKey, t.SessionKey:
			hits = append(hits, t)
		}
	}
	switch len(hits) {
	case 0:
		return protocol.TaskView{}, &failure{exitFailure, "there is no task " + line(name), "`hearth tasks list` lists them with their ids"}
	case 1:
		return hits[0], nil
	}
	return protocol.TaskView{}, &failure{
		exitUsage, count(len(hits), "task") + " are called " + line(name), "say the whole id: `hearth tasks list --json` has it",
	}
}

func showTask(ctx context.Context, a *app, name string) error {
	c, found, err := dialTasks(ctx, a, []string{name})
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.TaskResult
	if err := c.Call(ctx, protocol.MethodTasksGet, protocol.TaskIDParams{TaskID: found[0].ID}, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(protocol.TaskView{Task: res.Task, Hearth: found[0].Hearth})
	}
	t, now := found[0], time.Now()
	t.Task = res.Task
	rows := [][]string{
		{"id", t.ID}, {"kind", strings.ReplaceAll(t.Kind, "_", " ")}, {"state", taskState(&t, now)}, {"began", moment(t.CreatedAt, now)},
	}
	for _, r := range [][2]string{
		{"doing", t.ProgressSummary}, {"error", t.Error}, {"conversation", t.SessionKey}, {"its own", t.ChildSessionKey}, {"job", t.SourceID},
		{"delivery", t.DeliveryStatus}, {"asked for", t.Prompt}, {"result", t.Result}, {"said", t.TerminalSummary},
	} {
		rows = appendSaid(rows, r[0], r[1])
	}
	if err := a.out().print(bold(line(t.Title)), "\n"); err != nil {
		return err
	}
	for _, r := range rows {
		if err := a.out().print(dim(r[0]+strings.Repeat(" ", max(1, 14-len(r[0])))), line(r[1]), "\n"); err != nil {
			return err
		}
	}
	return nil
}

func cancelTask(ctx context.Context, a *app, name string) error {
	c, found, err := dialTasks(ctx, a, []string{name}, protocol.ScopeWrite)
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.TaskCancelResult
	if err := c.Call(ctx, protocol.MethodTasksCancel, protocol.TaskCancelParams{TaskID: found[0].ID}, &res); err != nil {
		return err
	}
	if !res.Cancelled {
		return notDone("the task was not cancelled: "+line(res.Reason), found[0].ID)
	}
	return a.done(res, "It is being ended. `hearth tasks list` shows when it is.")
}

// doTasks does the same with several tasks, and fails when one of them was refused.
func doTasks(ctx context.Context, a *app, method, done string, names []string) error {
	c, found, err := dialTasks(ctx, a, names, protocol.ScopeWrite)
	if err != nil {
		return err
	}
	defer c.Close()
	var p protocol.TaskIDsParams
	for _, t := range found {
		p.TaskIDs = append(p.TaskIDs, t.ID)
	}
	var res protocol.TasksDone
	if err := c.Call(ctx, method, p, &res); err != nil {
		return err
	}
	var refused *failure
	var said []string
	for i, r := range res.Results {
		if !r.OK {
			refused = notDone(line(found[i].Title)+": "+line(r.Reason), r.TaskID)
			continue
		}
		said = append(said, done+": "+line(found[i].Title))
	}
	if len(said) > 0 || a.asJSON {
		if err := a.done(res, strings.Join(said, "\n")); err != nil {
			return err
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

func notDone(why, id string) *failure {
	return &failure{exitFailure, why, "`hearth tasks show " + taskShort(id) + "` shows it"}
}
