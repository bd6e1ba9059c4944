package cron

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/watch"
	calendars "github.com/hearth-assistant/hearth/gateway/watch/calendar"
	"github.com/hearth-assistant/hearth/gateway/watch/feed"
	"github.com/hearth-assistant/hearth/gateway/watch/file"
	"github.com/hearth-assistant/hearth/gateway/watch/mailbox"
	"github.com/hearth-assistant/hearth/gateway/watch/output"
	"github.com/hearth-assistant/hearth/gateway/watch/page"
)

// pace is how often a kind of source is looked at.
func pace(source string) (usual, least time.Duration, ok bool) {
	switch source {
	case protocol.WatchFile:
		return time.Minute, 5 * time.Second, true
	case protocol.WatchPage, protocol.WatchCalendar:
		return 15 * time.Minute, time.Minute, true
	case protocol.WatchFeed:
		return 30 * time.Minute, time.Minute, true
	case protocol.WatchMail, protocol.WatchOutput:
		return 5 * time.Minute, 30 * time.Second, true
	}
	return 0, 0, false
}

// checkWatched completes what somebody wants to have watched, and refuses what can
// never be. Its errors are for people.
func (f *feature) checkWatched(w *protocol.CronWatched) error {
	usual, least, ok := pace(w.Source)
	if !ok {
		return fmt.Errorf("there is nothing to watch called %q; what can be watched is file, page, feed, calendar, mail and output", w.Source)
	}
	if w.EveryMs == 0 {
		w.EveryMs = usual.Milliseconds()
	}
	if every := time.Duration(w.EveryMs) * time.Millisecond; every < least || every > 30*24*time.Hour {
		return fmt.Errorf("it cannot be looked at every %s; every %s is the most often, every 30 days the least", every, least)
	}
	w.URL = strings.TrimSpace(w.URL)
	if w.Path = strings.TrimSpace(w.Path); strings.HasPrefix(w.Path, "~/") || w.Path == "~" {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("nobody knows where %s is: %w", w.Path, err)
		}
		w.Path = filepath.Join(home, w.Path[1:])
	}
	if _, ok := secret.KeychainRef(w.Secret); w.Secret != "" && !ok {
		return errors.New("a password is never kept in a job: keep it with `hearth secrets set NAME`, and say keychain:NAME")
	}
	_, err := f.source(w, "")
	return err
}

// source is what is looked at.
func (f *feature) source(w *protocol.CronWatched, agent string) (watch.Source, error) {
	switch w.Source {
	case protocol.WatchFile:
		return file.New(w.Path, w.Match, w.Deep, f.Now)
	case protocol.WatchOutput:
		if !f.settings().Triggers {
			return nil, errSwitchedOff
		}
		if len(w.Argv) == 0 || w.Argv[0] == "" {
			return nil, errors.New("say which command's output is watched (argv)")
		}
		if _, err := f.program(w.Argv[0]); err != nil {
			return nil, err
		}
		return f.outputOf(w.Argv, agent), nil
	case protocol.WatchMail:
		return f.mailbox(w)
	}
	by, err := f.wayTo(w)
	if err != nil {
		return nil, err
	}
	switch w.Source {
	case protocol.WatchPage:
		return page.New(w.URL, w.Selector, by)
	case protocol.WatchFeed:
		return feed.New(w.URL, by)
	case protocol.WatchCalendar:
		return calendars.New(calendars.Options{
			Path: w.Path, URL: w.URL, User: w.User, Password: f.password(w), Ahead: time.Duration(w.AheadMs) * time.Millisecond, Zone: f.zone,
			Now: f.Now, By: by,
		})
	}
	return nil, errors.New("nobody knows how to look at " + w.Source)
}

// wayTo is how an address is reached: as everybody would reach it, unless a person
// said that it is near.
func (f *feature) wayTo(w *protocol.CronWatched) (watch.Fetcher, error) {
	if !w.Near || w.URL == "" {
		return f.Web, nil
	}
	u, err := watch.Address(w.URL)
	if err != nil {
		return nil, err
	}
	return egress.Only(u.Scheme + "://" + u.Host)
}

// password is asked for at each look, so that a new one counts at once; nil: there
// is none.
func (f *feature) password(w *protocol.CronWatched) func(context.Context) (string, error) {
	ref, ok := secret.KeychainRef(w.Secret)
	if !ok {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		s, err := f.Keys.Value(ctx, "the password of a watcher", secret.Reference(ref))
		if err != nil {
			return "", err
		}
		return s.Reveal(), nil
	}
}

func (f *feature) mailbox(w *protocol.CronWatched) (watch.Source, error) {
	o := mailbox.Options{
		URL: w.URL, User: w.User, Folder: w.Folder, From: w.From, Password: f.password(w), Dial: egress.DialPublic,
	}
	if w.Near {
		o.Dial = egress.DialNamed
		if u, err := url.Parse(w.URL); err == nil && u.Scheme == "imap" {
			ip := net.ParseIP(u.Hostname())
			o.Plain = u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
		}
	}
	return mailbox.New(o)
}

// outputOf is what a command prints.
func (f *feature) outputOf(argv []string, agent string) watch.Source {
	title := short(strings.Join(argv, " "), 200)
	return output.New(title, func(ctx context.Context) (string, error) {
		seconds := 50.0
		res := f.runCommand(ctx, job.Run{
			CronRun: protocol.CronRun{JobID: "watch", JobName: title, RunID: "watch"},
			Spec: &protocol.CronSpec{AgentID: agent, Payload: protocol.CronPayload{
				Kind: protocol.CronCommand, Argv: slices.Clone(argv), TimeoutSeconds: &seconds,
			}},
		})
		if res.Status != protocol.CronOK {
			return "", errors.New(res.Error)
		}
		return res.Text, nil
	})
}

// looked looks at what a job watches, and not while Hearth is paused.
type looked struct {
	f     *feature
	w     protocol.CronWatched
	agent string
}

// Look implements watch.Source.
func (l *looked) Look(ctx context.Context, kept json.RawMessage) (watch.Found, error) {
	if err := l.paused(); err != nil {
		return watch.Found{}, fmt.Errorf("%w: %w", watch.ErrLater, err)
	}
	s, err := l.f.source(&l.w, l.agent)
	if err != nil {
		return watch.Found{}, err
	}
	return s.Look(ctx, kept)
}

// paused is why nothing is looked at now, nil when it may be.
func (l *looked) paused() error {
	switch l.w.Source {
	case protocol.WatchFile:
		return nil
	case protocol.WatchOutput:
		if !l.f.settings().Triggers {
			return errSwitchedOff
		}
		return l.f.Pause.Check(pause.UseTool)
	}
	return l.f.Pause.Check(pause.CallService)
}

// Notices implements watch.Noticer.
func (l *looked) Notices(ctx context.Context, wake func()) error {
	s, err := l.f.source(&l.w, l.agent)
	if err != nil {
		return err
	}
	if n, ok := s.(watch.Noticer); ok {
		return n.Notices(ctx, wake)
	}
	return nil
}

// wary reports whether what is watched holds words that strangers write.
func wary(w *protocol.CronWatched) bool { return w != nil && w.Source != protocol.WatchFile }
