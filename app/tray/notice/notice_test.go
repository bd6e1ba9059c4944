package notice

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/frontend/src/i18n"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func waits(ids ...string) menu.State {
	s := menu.State{Link: menu.Ready, Waiting: len(ids)}
	for i, id := range ids {
		s.Approvals[i] = menu.Approval{ID: id, Title: "git push", Lines: []string{"in ~/site"}}
	}
	return s
}

func keys(c Change) (show []string) {
	for _, n := range c.Show {
		show = append(show, n.Key)
	}
	return show
}

func TestARequestIsToldOnceAndTakenAway(t *testing.T) {
	d := Desk{Words: i18n.Open()}
	all := Rules{Level: All}
	for i, step := range []struct {
		s          menu.State
		show, gone []string
	}{
		{menu.State{}, nil, nil},
		{waits("a"), []string{"request:a"}, nil},
		{waits("a"), nil, nil},
		{waits("a", "b"), []string{"request:b"}, nil},
		{menu.State{Link: menu.Lost}, nil, nil}, // it may still wait
		{waits("b"), nil, []string{"request:a"}},
		{waits(), nil, []string{"request:b"}},
		{menu.State{Link: menu.Ready, Undeliv: 2}, []string{"undelivered"}, nil},
		{menu.State{Link: menu.Ready, Undeliv: 1}, nil, nil},
		{menu.State{Link: menu.Ready}, nil, []string{"undelivered"}},
	} {
		c := d.State(step.s, all, noon)
		if diff := cmp.Diff(step.show, keys(c)); diff != "" {
			t.Errorf("step %d shows %s", i, diff)
		}
		if diff := cmp.Diff(step.gone, c.Withdraw); diff != "" {
			t.Errorf("step %d takes away %s", i, diff)
		}
	}
}

func TestSec_A_EXEC_13_WhatIsNotSeenWholeCannotBeAllowedInANote(t *testing.T) {
	for title, want := range map[string]bool{"git push": true, strings.Repeat("x ", 80): false, "git push\u202e": false, "a\nb": false} {
		d := Desk{Words: i18n.Open()}
		s := waits("a")
		s.Approvals[0].Title = title
		got := false
		for _, b := range d.State(s, Rules{Level: All}, noon).Show[0].Buttons {
			got = got || b.ID == Allow
		}
		if got != want {
			t.Errorf("%q can be allowed: %v", title, got)
		}
	}
}

func TestRules(t *testing.T) {
	night := Rules{Level: All, Start: 22 * 60, End: 7 * 60}
	lunch := Rules{Level: All, Start: 12 * 60, End: 13 * 60}
	at := func(h, m int) time.Time { return time.Date(2026, 3, 4, h, m, 0, 0, time.UTC) }
	for _, c := range []struct {
		r    Rules
		at   time.Time
		want bool
	}{
		{night, at(21, 59), false}, {night, at(22, 0), true}, {night, at(3, 0), true}, {night, at(7, 0), false},
		{lunch, at(12, 0), true}, {lunch, at(13, 0), false}, {Rules{Level: All}, at(0, 0), false}, {Rules{Level: Off}, noon, true},
	} {
		if got := c.r.Quiet(c.at); got != c.want {
			t.Errorf("%+v at %v: %v", c.r, c.at, got)
		}
	}
	d := Desk{Words: i18n.Open()}
	if c := d.State(waits("a"), lunch, at(12, 30)); len(c.Show) != 0 {
		t.Error("told in a quiet time")
	}
	if c := d.State(waits("a"), lunch, at(13, 0)); len(c.Show) != 1 {
		t.Error("not told after the quiet time")
	}
	for level, want := range map[string]bool{All: true, Requests: false, Off: false, "": false} {
		if _, got := d.Answered(Answer{Key: "k", Text: "42"}, Rules{Level: level}, noon); got != want {
			t.Errorf("an answer with %q: %v", level, got)
		}
	}
}

func TestAnswersAndWhatAPressMeans(t *testing.T) {
	d := Desk{Words: i18n.Open()}
	n, _ := d.Answered(Answer{Key: "agent:main:main", Text: "It is 42."}, Rules{Level: All}, noon)
	if n.Key != "chat:agent:main:main" || n.Text != "It is 42." || n.Reply == "" || strings.Contains(n.Title, "main") {
		t.Errorf("%+v", n)
	}
	if n, _ := d.Answered(Answer{Key: "k", Text: "Call mum", Reminder: true}, Rules{Level: All}, noon); n.Title != "Reminder" ||
		n.Text != "Call mum" || n.Reply != "" || !n.Stays || len(n.Buttons) != 1 {
		t.Errorf("%+v", n)
	}
	if n, _ := d.Answered(Answer{Key: "k", Why: "no key"}, Rules{Level: All}, noon); n.Text != "no key" || n.Reply != "" {
		t.Errorf("%+v", n)
	}
	for _, c := range []struct {
		in    notify.Choice
		want  menu.Action
		reply string
	}{
		{notify.Choice{Key: "request:a", Button: Allow}, menu.Action{Verb: menu.AllowOnce, Arg: "a"}, ""},
		{notify.Choice{Key: "request:a", Button: Deny}, menu.Action{Verb: menu.Deny, Arg: "a"}, ""},
		{notify.Choice{Key: "request:a", Button: See}, menu.Action{Verb: menu.Open}, ""},
		{notify.Choice{Key: "request:a", Button: "allow-here"}, menu.Action{Verb: menu.Open}, ""},
		{notify.Choice{Key: "chat:k", Button: See}, menu.Action{Verb: menu.Open, Arg: "k"}, ""},
		{notify.Choice{Key: "chat:k", Text: "thanks"}, menu.Action{Verb: menu.Open, Arg: "k"}, "thanks"},
		{notify.Choice{Key: "undelivered", Button: See}, menu.Action{Verb: menu.Undelivd}, ""},
		{notify.Choice{Key: "woke", Button: See}, menu.Action{Verb: menu.Open}, ""},
	} {
		if do, reply := Do(c.in); do != c.want || reply != c.reply {
			t.Errorf("%+v: %+v %q", c.in, do, reply)
		}
	}
}
