package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

// watchFlags say what is watched, and what is done about it.
type watchFlags struct {
	source, name, match, selector, folder, user, secret, command string
	every, ahead, message, remind, model, tools                  string
	from                                                         []string
	deep, near, once, important, noDeliver                       bool
	channel, to, agent                                           string
}

func newWatch(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listWatches(ctx, a) }
	c := group("watch", "Be told, or have something done, when something changes: files, pages, feeds, calendars, mail",
		newWatchAdd(a),
		&cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List what is watched", Args: cobra.NoArgs, RunE: a.run(list)},
		newWatchTest(a),
		&cobra.Command{Use: "remove JOB", Aliases: []string{"rm", "delete"}, Short: "Watch something no longer", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeJob(ctx, a, args[0]) })},
	)
	c.RunE = a.run(list)
	return c
}

func newWatchAdd(a *app) *cobra.Command {
	var f watchFlags
	c := &cobra.Command{
		Use:   "add WHAT [PROMPT]",
		Short: "Watch something from now on",
		Args:  cobra.RangeArgs(0, 2),
		Long: "Watch something from now on. WHAT is a file or folder, or an address: of a page, of a feed (--feed),\n" +
			"of a calendar (--calendar, or one that ends in .ics), of a mailbox (imaps://mail.example.org).\n" +
			"What is there now is not told. With PROMPT the assistant is asked to do that with each change;\n" +
			"without one you are told what has changed, and no model is asked. The job is one of `hearth cron`.",
		Example: "  hearth watch add ~/Downloads --match \"*.pdf\"\n" +
			"  hearth watch add https://example.org/prices --selector \"#price\" \"Tell me if it is below 100\"\n" +
			"  hearth watch add imaps://mail.example.org --user me@example.org --password-from keychain:mail --from boss@example.org",
	}
	f.register(c)
	c.RunE = a.run(func(ctx context.Context, args []string) error { return addWatch(ctx, a, &f, args) })
	return c
}

func newWatchTest(a *app) *cobra.Command {
	var f watchFlags
	c := &cobra.Command{
		Use:   "test WHAT",
		Short: "Look once, and show what is there; WHAT is as for add, or the id or name of a job",
		Args:  cobra.MaximumNArgs(1),
	}
	f.register(c)
	c.RunE = a.run(func(ctx context.Context, args []string) error { return testWatch(ctx, a, &f, args) })
	return c
}

func (f *watchFlags) register(c *cobra.Command) {
	s, b := c.Flags().StringVar, c.Flags().BoolVar
	kind := func(name, source, words string) {
		c.Flags().BoolFunc(name, words, func(string) error { f.source = source; return nil })
	}
	kind("page", protocol.WatchPage, "the address is that of a page (what addresses usually are)")
	kind("feed", protocol.WatchFeed, "the address is that of a feed (RSS, Atom, JSON Feed)")
	kind("calendar", protocol.WatchCalendar, "the address is that of a calendar (.ics, CalDAV)")
	s(&f.name, "name", "", "what to call it")
	s(&f.match, "match", "", "only files with such names, such as \"*.pdf\"")
	b(&f.deep, "recursive", false, "the folders in the folder too")
	s(&f.selector, "selector", "", "only this part of the page, as in CSS, such as \"#price\"")
	s(&f.folder, "folder", "", "which folder of the mailbox (default INBOX)")
	c.Flags().StringArrayVar(&f.from, "from", nil, "only mail from this address; may be said several times")
	s(&f.user, "user", "", "who logs in")
	s(&f.secret, "password-from", "", "`PLACE`: where the password is kept, such as keychain:mail (`hearth secrets set mail`)")
	s(&f.command, "command", "", "watch what this shell command prints, instead of WHAT")
	s(&f.every, "every", "", "how often to look, such as 10m")
	s(&f.ahead, "ahead", "", "of a calendar: also so long before an event begins, such as 15m")
	b(&f.near, "near", false, "the address is on this computer or its network")
	s(&f.message, "message", "", "ask the assistant this with each change (the same as PROMPT)")
	s(&f.remind, "remind", "", "these words in front of what you are told")
	b(&f.once, "once", false, "only the first change; the job is gone then")
	b(&f.important, "important", false, "tell again until you have seen it")
	s(&f.model, "model", "", "ask this model, provider/model")
	s(&f.tools, "tools", "", "the assistant may use only these tools, with commas")
	s(&f.channel, "channel", "", "tell it on this network (default: where you wrote last)")
	s(&f.to, "to", "", "to whom there")
	s(&f.agent, "agent", "", "which assistant does it")
	b(&f.noDeliver, "no-deliver", false, "send the result nowhere")
}

// watched is what is to be watched.
func (f *watchFlags) watched(what string) (*protocol.CronWatched, error) {
	w := &protocol.CronWatched{
		Source: f.source, Match: f.match, Deep: f.deep, Selector: f.selector, Folder: f.folder, From: f.from, User: f.user, Secret: f.secret,
		Near: f.near,
	}
	for flag, to := range map[string]*int64{"every": &w.EveryMs, "ahead": &w.AheadMs} {
		said := map[string]string{"every": f.every, "ahead": f.ahead}[flag]
		if said == "" {
			continue
		}
		d, err := time.ParseDuration(said)
		if err != nil || d <= 0 {
			return nil, usage("--%s is a length of time, such as 10m", flag)
		}
		*to = d.Milliseconds()
	}
	switch {
	case f.command != "" && what != "":
		return nil, usage("say what to watch once: WHAT, or --command")
	case f.command != "":
		w.Source, w.Argv = protocol.WatchOutput, []string{"sh", "-lc", f.command}
		return w, nil
	case what == "":
		return nil, &failure{exitUsage, "say what to watch: a file, a folder or an address", "`hearth watch add --help` has examples"}
	}
	scheme, _, address := strings.Cut(what, "://")
	switch {
	case address && (scheme == "imaps" || scheme == "imap"):
		w.Source, w.URL = protocol.WatchMail, what
	case address && strings.HasSuffix(strings.ToLower(what), ".ics"), address && scheme == "webcal":
		w.Source, w.URL = protocol.WatchCalendar, what
	case address:
		w.Source, w.URL = cmp.Or(w.Source, protocol.WatchPage), what
	default:
		if strings.HasSuffix(strings.ToLower(what), ".ics") && w.Source == "" {
			w.Source = protocol.WatchCalendar
		}
		w.Source = cmp.Or(w.Source, protocol.WatchFile)
		return w, f.place(w, what)
	}
	return w, nil
}

// place makes a path absolute, as it is seen from here.
func (*watchFlags) place(w *protocol.CronWatched, what string) (err error) {
	if rest, ok := strings.CutPrefix(what, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		what = home + rest
	}
	w.Path, err = filepath.Abs(what)
	return err
}

// job is the job that watches.
func (f *watchFlags) job(w *protocol.CronWatched) protocol.CronSpec {
	j := protocol.CronSpec{
		Name: f.name, AgentID: f.agent, WakeMode: protocol.CronWakeNow, SessionTarget: protocol.CronMain,
		Schedule: protocol.CronSchedule{Kind: protocol.CronWatch, Watch: w},
		Payload:  protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: cmp.Or(f.remind, "Something has changed:")},
		Hearth:   &protocol.CronOwn{Reminder: true, Important: f.important},
		Delivery: &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce, Channel: cmp.Or(f.channel, "last"), To: f.to},
	}
	if f.message != "" {
		j.Payload = protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: f.message, Model: f.model}
		j.SessionTarget, j.Hearth = protocol.CronIsolated, nil
		if f.tools != "" {
			j.Payload.ToolsAllow = commas(f.tools)
		}
	}
	if f.noDeliver {
		j.Delivery = &protocol.CronDelivery{Mode: protocol.CronDeliverNone}
	}
	if f.once {
		j.DeleteAfterRun = &f.once
	}
	if j.Name == "" {
		j.Name = text.Ellipsis(line(cmp.Or(filepath.Base(w.Path), w.URL, f.command)), 60)
		if w.Path == "" {
			j.Name = text.Ellipsis(line(cmp.Or(w.URL, f.command)), 60)
		}
	}
	return j
}

func addWatch(ctx context.Context, a *app, f *watchFlags, args []string) error {
	what := ""
	if len(args) > 0 && f.command == "" {
		what, args = args[0], args[1:]
	}
	if len(args) > 0 {
		if f.message != "" && f.message != args[0] {
			return usage("say what to do once: after what is watched, or with --message")
		}
		f.message = args[0]
	}
	if f.message != "" && f.remind != "" {
		return usage("--remind tells you, a prompt asks the assistant: say one of them")
	}
	w, err := f.watched(what)
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	var seen protocol.CronWatchTest
	if err := c.Call(ctx, protocol.MethodCronWatchTest, protocol.CronWatchTestParams{Watch: w}, &seen); err != nil {
		return explainWatch(err)
	}
	var res protocol.CronAdded
	if err := c.Call(ctx, protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: f.job(w)}, &res); err != nil {
		return explainWatch(err)
	}
	words := "Watching: " + line(jobName(&res.CronJob)) + " (" + scheduleWords(&res.CronJob, time.Now()) + "). Its id is " +
		shortID(res.ID) + ".\n"
	if seen.OK {
		words += "What changes from now on is told; there " + thereWords(seen.Count) + " now."
	} else {
		words += "Careful: it cannot be looked at just now: " + line(seen.Problem) + "\nHearth goes on trying."
	}
	return a.done(res, words)
}

func thereWords(n int) string {
	switch n {
	case 0:
		return "is nothing"
	case 1:
		return "is 1 thing"
	}
	return "are " + count(n, "thing")
}

// explainWatch adds what to do to a refusal of the gateway.
func explainWatch(err error) error {
	if f, ok := explainJob(err).(*failure); ok {
		return &failure{f.code, f.message, "`hearth watch add --help` shows what can be watched and how it is said"}
	}
	return err
}

func testWatch(ctx context.Context, a *app, f *watchFlags, args []string) error {
	what := strings.Join(args, "")
	var p protocol.CronWatchTestParams
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	if j, err := findJobBy(ctx, c, what); err == nil && what != "" {
		p.ID = j.ID
	} else if p.Watch, err = f.watched(what); err != nil {
		return err
	}
	var res protocol.CronWatchTest
	if err := c.Call(ctx, protocol.MethodCronWatchTest, p, &res); err != nil {
		return explainWatch(err)
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if !res.OK {
		return &failure{exitFailure, line(res.Problem), "`hearth watch add --help` shows what can be watched and how it is said"}
	}
	words := "There " + thereWords(res.Count) + " now"
	if len(res.Items) < res.Count && len(res.Items) > 0 {
		words += ", the last of them"
	}
	for _, it := range res.Items {
		words += "\n  " + line(it.Title)
		if it.Text != "" {
			words += "  " + line(text.Ellipsis(it.Text, 100))
		}
	}
	return a.out().print(words, "\n")
}

func listWatches(ctx context.Context, a *app) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	jobs := []*protocol.CronJob{}
	p := protocol.CronListParams{IncludeDisabled: true, ScheduleKind: protocol.CronWatch}
	if err := eachJob(ctx, c, p, func(j *protocol.CronJob) bool { jobs = append(jobs, j); return true }); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(map[string]any{"jobs": jobs, "total": len(jobs)})
	}
	if len(jobs) == 0 {
		return a.out().print("Nothing is watched. `hearth watch add ~/Downloads` watches a folder, `hearth watch add --help` shows what else.\n")
	}
	now := time.Now()
	var rows [][]string
	for _, j := range jobs {
		rows = append(rows, []string{
			shortID(j.ID), lookedWords(j, now), scheduleWords(j, now), resultWords(j, now), text.Ellipsis(line(jobName(j)), 60),
		})
	}
	return a.out().table([]string{"ID", "LOOKED", "WATCHES", "LAST", "NAME"}, rows)
}

// lookedWords says when something was looked at last, and whether that worked.
func lookedWords(j *protocol.CronJob, now time.Time) string {
	w := &protocol.CronWatching{}
	if j.Hearth != nil && j.Hearth.Watching != nil {
		w = j.Hearth.Watching
	}
	switch {
	case isOff(j):
		return nextWords(j, now)
	case w.Problem != "":
		return "fails: " + text.Ellipsis(line(w.Problem), 50)
	case w.LookedAtMs == 0:
		return "not yet"
	}
	return moment(w.LookedAtMs, now)
}
