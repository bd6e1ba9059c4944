package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/task"
)

const (
	shownIDs   = 8
	shownTasks = 15
)

// command is /tasks.
func (f *feature) command(ctx context.Context, _, args string) (string, error) {
	do, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	switch do {
	case "", "list":
		return f.listed(), nil
	case "show", "cancel", "retry":
	default:
		return "Say `/tasks`, or `/tasks show`, `cancel` or `retry` with the id of a task.", nil
	}
	t, refused := f.found(name)
	if refused != "" {
		return refused, nil
	}
	switch do {
	case "show":
		return f.shown(t), nil
	case "cancel":
		if err := f.Book.Cancel(ctx, t.ID); err != nil {
			return answer(err)
		}
		return "It is being ended: **" + plain(t.Title) + "**.", nil
	}
	if _, err := f.Book.Retry(ctx, t.ID); err != nil {
		return answer(err)
	}
	return "It is done again: **" + plain(t.Title) + "**.", nil
}

func answer(err error) (string, error) {
	if refusal(err) {
		return protocol.Sentence(err.Error()), nil
	}
	return "", err
}

// found is the task that a person means: by its number in the list's words, its id,
// or the end of one.
func (f *feature) found(name string) (task.Task, string) {
	if t, ok := f.Book.Get(name); ok {
		return t, ""
	}
	var hits []task.Task
	all, _ := f.Book.List(task.Query{Limit: maxPage})
	for _, t := range all {
		if name != "" && (short(t.ID) == name || t.RunID == name) {
			hits = append(hits, t)
		}
	}
	switch len(hits) {
	case 0:
		return task.Task{}, "There is no task " + plain(name) + ". `/tasks` shows them."
	case 1:
		return hits[0], ""
	}
	return task.Task{}, "Several tasks are called that; say the whole id: `hearth tasks list --json` has it."
}

// short is the end of an id: those of a job's runs begin alike.
func short(id string) string {
	id = strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '`' || r < ' ' {
			return -1
		}
		return r
	}, id), ":")
	return id[max(0, len(id)-shownIDs):]
}

// plain is text that cannot break out of its place in Markdown.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", "[", "(", "]", ")").Replace(s)), " ")
}

func (f *feature) listed() string {
	open, _ := f.Book.List(task.Query{Statuses: []string{protocol.TaskQueued, protocol.TaskRunning}, Limit: shownTasks})
	over, more := f.Book.List(task.Query{Statuses: []string{
		protocol.TaskCompleted, protocol.TaskFailed, protocol.TaskCancelled, protocol.TaskTimedOut,
	}, SortBy: "endedAt", Limit: shownTasks})
	if len(open)+len(over) == 0 {
		return "Nothing works in the background, and nothing did."
	}
	var b strings.Builder
	if len(open) > 0 {
		b.WriteString("At work:\n")
	}
	for _, t := range open {
		b.WriteString(f.row(t))
	}
	if len(over) > 0 {
		b.WriteString("\nOver:\n")
	}
	for _, t := range over {
		b.WriteString(f.row(t))
	}
	if more {
		b.WriteString("… and more; `hearth tasks list` shows all of them.")
	}
	return strings.TrimSpace(b.String())
}

func (f *feature) row(t task.Task) string {
	s := fmt.Sprintf("- `%s` **%s**: %s", short(t.ID), plain(t.Title), f.state(t))
	if t.Error != "" {
		s += ". " + plain(firstLine(t.Error))
	}
	return s + "\n"
}

// state says in a few words how a task is.
func (f *feature) state(t task.Task) string {
	ago := func(ms int64) string { return f.Now().Sub(time.UnixMilli(ms)).Round(time.Second).String() + " ago" }
	switch t.Status {
	case protocol.TaskQueued:
		return "waits, since " + ago(t.CreatedAt)
	case protocol.TaskRunning:
		s := "began " + ago(t.StartedAt)
		if t.Total > 0 {
			const whole = 100
			s = fmt.Sprintf("%d%%, %s", min(t.Done*whole/t.Total, whole), s)
		}
		return s
	case protocol.TaskCompleted:
		return "done " + ago(t.EndedAt)
	case protocol.TaskCancelled:
		return "cancelled " + ago(t.EndedAt)
	case protocol.TaskTimedOut:
		return "took too long, ended " + ago(t.EndedAt)
	}
	if t.Interrupted {
		return "interrupted " + ago(t.EndedAt)
	}
	return "failed " + ago(t.EndedAt)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func (f *feature) shown(t task.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s)\n%s", plain(t.Title), strings.ReplaceAll(t.Kind, "_", " "), f.state(t))
	for _, part := range []string{t.ProgressSummary, t.Error, t.TerminalSummary} {
		if part != "" {
			b.WriteString("\n" + plain(firstLine(part)))
		}
	}
	if t.CanRetry() {
		b.WriteString("\n`/tasks retry " + short(t.ID) + "` does it again.")
	} else if t.Open() {
		b.WriteString("\n`/tasks cancel " + short(t.ID) + "` ends it.")
	}
	return b.String()
}
