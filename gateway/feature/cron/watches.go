package cron

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/gateway/watch"
)

const (
	maxShown = 20  // changes that a person is told by name
	maxShort = 300 // of the words of one
)

// sources are what jobs watch that is no program: a watch.Does.
type sources struct{ f *feature }

// keepSources looks at what jobs watch, until ctx ends.
func (f *feature) keepSources(ctx context.Context) {
	for {
		f.keeper.Set(f.sourcesOf())
		select {
		case <-ctx.Done():
			return
		case <-f.sources:
		}
	}
}

// sourcesOf are what the jobs that are on watch.
func (f *feature) sourcesOf() (out []watch.Watch) {
	if !f.limits().On {
		return nil
	}
	jobs, _ := f.book.All()
	for _, j := range jobs {
		if w := j.Schedule.Watch; j.Schedule.Kind == protocol.CronWatch && j.On() && w != nil {
			src := &looked{f: f, w: *w, agent: f.agentOf(&j.CronSpec)}
			out = append(out, watch.Watch{ID: j.ID, Rev: j.Activated(), Every: time.Duration(w.EveryMs) * time.Millisecond, Source: src})
		}
	}
	return out
}

// Happened implements watch.Does.
func (ws sources) Happened(ctx context.Context, w watch.Watch, changes []watch.Change, also func(tx *store.Tx) error) error {
	var items []job.Item
	for _, c := range changes {
		items = append(items, job.Item{Title: string(c.What) + ": " + c.Title, Text: c.Text, Link: c.Link})
	}
	err := ws.f.book.Happened(ctx, w.ID, w.Rev, items, also)
	if errors.Is(err, job.ErrChanged) || errors.Is(err, job.ErrNotFound) {
		return watch.ErrOver
	}
	return err
}

// Away implements watch.Does: it is told once in the conversation of the job.
func (ws sources) Away(ctx context.Context, w watch.Watch, problem error) {
	f := ws.f
	j, err := f.book.Get(w.ID)
	if err != nil {
		return
	}
	words := "“" + j.Name + "” can be looked at again."
	if problem != nil {
		words = "“" + j.Name + "” cannot be looked at: " + protocol.Sentence(problem.Error()) +
			" Hearth goes on trying, less and less often, and says when it works again."
	}
	if _, err := f.Sessions.InjectNote(ctx, f.home(&j.CronSpec), session.Note{
		Label: j.Name, Text: words, ForAgent: untrusted.Wrapper{}.Wrap("the watcher "+j.Name, words),
	}); err != nil && ctx.Err() == nil {
		f.Logger.Warn("it could not be told how a watcher is", "job", w.ID, "err", err)
	}
}

// home is the conversation that a job belongs to.
func (f *feature) home(s *protocol.CronSpec) string {
	agent := f.agentOf(s)
	home := cmp.Or(s.SessionKey, rules.Main(f.Settings, agent))
	if key, err := f.Agents.Canonical(home, agent); err == nil {
		return key
	}
	return home
}

// describeWatch says how a watcher is.
func (f *feature) describeWatch(w *protocol.CronJob, own *protocol.CronOwn) {
	if w.Schedule.Kind == protocol.CronStream && w.State.StreamStatus == statusRest && w.State.StreamError != "" {
		own.Watching = &protocol.CronWatching{
			LookedAtMs:   w.State.StreamLastStartedAtMs,
			NextLookAtMs: w.State.StreamLastExitAtMs + job.BackOff(max(w.State.StreamFailures, 1)).Milliseconds(),
			Problem:      w.State.StreamError,
		}
	}
	if w.Schedule.Kind != protocol.CronWatch {
		return
	}
	own.Watching = &protocol.CronWatching{}
	if st, ok := f.keeper.Status(w.ID); ok {
		if !st.Looked.IsZero() {
			own.Watching.LookedAtMs = st.Looked.UnixMilli()
		}
		if !st.Next.IsZero() {
			own.Watching.NextLookAtMs = st.Next.UnixMilli()
		}
		own.Watching.Problem = st.Problem
	}
}

// testWatch looks at something once, and says what is there.
func (f *feature) testWatch(ctx context.Context, p protocol.CronWatchTestParams) (out protocol.CronWatchTest, err error) {
	w, agent := p.Watch, f.Agents.Book().Default().ID
	if p.ID != "" {
		j, err := f.book.Get(p.ID)
		if err != nil {
			return out, forClients(err)
		}
		if w = j.Schedule.Watch; w == nil {
			return out, protocol.InvalidParams(protocol.MethodCronWatchTest, "this job watches nothing")
		}
		agent = f.agentOf(&j.CronSpec)
		f.keeper.Look(j.ID)
	}
	if w == nil {
		return out, protocol.InvalidParams(protocol.MethodCronWatchTest, "say which job (id) or what is to be looked at (watch)")
	}
	one := *w
	if err := f.checkWatched(&one); err != nil {
		return out, protocol.InvalidParams(protocol.MethodCronWatchTest, "%s", err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	found, err := (&looked{f: f, w: one, agent: agent}).Look(ctx, nil)
	out.Items = []protocol.CronWatchItem{}
	if err != nil {
		out.Problem = protocol.Sentence(err.Error())
		return out, nil
	}
	out.OK, out.Count = true, max(len(found.Items), found.Count)
	for _, it := range found.Items[max(0, len(found.Items)-maxShown):] {
		out.Items = append(out.Items, protocol.CronWatchItem{Title: short(it.Title, maxShort), Text: short(it.Text, maxShort), Link: it.Link})
	}
	return out, nil
}

// changed reports whether a run is due because something that is watched has changed.
func changed(r *job.Run) bool { return len(r.Items) > 0 && r.Spec.Schedule.Kind == protocol.CronWatch }

// happened is what a run is due by, as a person reads it; "" for nothing.
func happened(items []job.Item) string {
	var b strings.Builder
	for i, it := range items {
		if i == maxShown {
			fmt.Fprintf(&b, "… and %d more\n", len(items)-i)
			break
		}
		b.WriteString("- " + oneLine(short(it.Title, maxShort)))
		if it.Link != "" && !strings.Contains(it.Title, it.Link) {
			b.WriteString(" " + oneLine(it.Link))
		}
		if it.Text != "" {
			b.WriteString("\n  " + oneLine(short(it.Text, maxShort)))
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}

// changesOf is what a run is due by, in whole.
func changesOf(items []job.Item) string {
	var b strings.Builder
	for _, it := range items {
		for _, part := range []string{it.Title, it.Link, it.Text} {
			if part != "" {
				b.WriteString(part + "\n")
			}
		}
		b.WriteString("\n")
	}
	return cutWords(strings.TrimSpace(b.String()), maxWords)
}

// forProgram is what a run is due by, as a program reads it.
func forProgram(r *job.Run) string {
	if !changed(r) {
		return ""
	}
	type change struct {
		Title string `json:"title"`
		Text  string `json:"text,omitempty"`
		Link  string `json:"link,omitempty"`
		AtMs  int64  `json:"atMs"`
	}
	all := []change{}
	for _, it := range r.Items {
		all = append(all, change{it.Title, it.Text, it.Link, it.At})
	}
	raw, err := json.Marshal(map[string]any{"changes": all})
	if err != nil {
		return "{}"
	}
	return string(raw)
}

// short is the beginning of text on one line.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func cutWords(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "\n…"
	}
	return s
}
