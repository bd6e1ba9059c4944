// Package notice decides what a person is notified about, and in which words,
// as values: requests that wait for a yes, reminders, answers in chats that nobody
// looks at, messages that were not delivered, and what was missed while the computer
// slept. Showing it is notify's.
package notice

import (
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/frontend/src/i18n"
)

// Rules are what the person set.
type Rules struct {
	Level      string // all, requests, off
	Start, End int    // quiet between these minutes of the day; the same: never
}

// The levels, as the settings name them.
const (
	All      = "all"
	Requests = "requests"
	Off      = "off"
)

// Quiet reports whether nothing pops up now.
func (r Rules) Quiet(now time.Time) bool {
	if r.Level == Off {
		return true
	}
	at := now.Hour()*60 + now.Minute()
	switch {
	case r.Start == r.End:
		return false
	case r.Start < r.End:
		return at >= r.Start && at < r.End
	}
	return at >= r.Start || at < r.End
}

// Answer is one that came to its end.
type Answer struct {
	Key  string // of the chat
	Text string
	Why  string // it failed
	// Reminder: it is one that the person planned.
	Reminder bool
}

// The buttons of notes. See opens what the note is about.
const (
	See   = "see"
	Allow = "allow"
	Deny  = "deny"
	Reply = "reply"
)

// A request and an answer have keys of their own, so that there is one note
// for each request and one for each chat.
const (
	ofRequest = "request:"
	ofChat    = "chat:"
	undeliv   = "undelivered"
)

// Desk turns what happens into notes, in the language of Words. It has told nothing
// when it is made.
type Desk struct {
	Words *i18n.Words

	told    map[string]bool // requests
	undeliv int
	begun   bool
}

// Change is what to show and what to take away.
type Change struct {
	Show     []notify.Note
	Withdraw []string
}

// State looks at a new state of the menu. What waited before the program began
// is told as well: nobody saw it.
func (d *Desk) State(s menu.State, r Rules, now time.Time) (c Change) {
	if s.Link != menu.Ready {
		return c
	}
	waits := map[string]bool{}
	for _, a := range s.Approvals {
		if a.ID == "" {
			continue
		}
		waits[a.ID] = true
		if d.told[a.ID] || r.Quiet(now) {
			continue // in a quiet time it waits in the menu, and is told afterwards
		}
		if d.told == nil {
			d.told = map[string]bool{}
		}
		d.told[a.ID] = true
		c.Show = append(c.Show, request(d.Words, a))
	}
	for id := range d.told {
		if !waits[id] {
			delete(d.told, id)
			c.Withdraw = append(c.Withdraw, ofRequest+id)
		}
	}
	if s.Undeliv > d.undeliv && d.begun && r.Level == All && !r.Quiet(now) {
		c.Show = append(c.Show, notify.Note{Key: undeliv, Title: d.Words.Say("note.undelivered"),
			Text: d.Words.Say("note.undelivered.text"), Opens: See, Buttons: []notify.Button{{ID: See, Label: d.Words.Say("note.look")}}})
	} else if s.Undeliv == 0 && d.undeliv > 0 {
		c.Withdraw = append(c.Withdraw, undeliv)
	}
	d.undeliv, d.begun = s.Undeliv, true
	return c
}

func request(w *i18n.Words, a menu.Approval) notify.Note {
	n := notify.Note{Key: ofRequest + a.ID, Title: w.Say("note.asks"), Opens: See, Stays: true}
	if a.Says != "" && a.Says != a.Title {
		n.Title, _ = menu.Whole(a.Says)
	}
	title, _ := menu.Whole(a.Title)
	n.Text = strings.Join(append([]string{title}, a.Lines...), "\n")
	if a.From != "" {
		n.Text += "\n" + a.From
	}
	if a.Seen() {
		n.Buttons = append(n.Buttons, notify.Button{ID: Allow, Label: w.Say("allow.once")})
	} // what is not seen to its end cannot be allowed here (A-EXEC-13)
	n.Buttons = append(n.Buttons, notify.Button{ID: Deny, Label: w.Say("deny")}, notify.Button{ID: See, Label: w.Say("see")})
	return n
}

// Answered is the note for an answer in a chat that nobody looks at.
func (d *Desk) Answered(a Answer, r Rules, now time.Time) (notify.Note, bool) {
	if r.Level != All || r.Quiet(now) {
		return notify.Note{}, false
	}
	// The name of the chat stays out of it: others see the screen as well.
	reply := d.Words.Say("note.reply")
	n := notify.Note{Key: ofChat + a.Key, Title: d.Words.Say("note.answered"), Text: a.Text, Opens: See, Reply: reply,
		Buttons: []notify.Button{{ID: See, Label: d.Words.Say("open")}, {ID: Reply, Label: reply}}}
	if a.Reminder {
		n.Title, n.Reply, n.Stays = d.Words.Say("note.reminder"), "", true
		n.Buttons = n.Buttons[:1]
	}
	if a.Why != "" {
		n.Title, n.Text, n.Reply = d.Words.Say("note.failed"), a.Why, ""
		n.Buttons = n.Buttons[:1]
	}
	return n, true
}

// Woke is the note about a time in which the computer slept.
func (d *Desk) Woke(from, to time.Time) notify.Note {
	return notify.Note{Key: "woke", Title: d.Words.Say("note.woke"), Opens: See,
		Text: d.Words.Say("note.woke.text", "from", d.Words.Clock(from, to), "to", to.Format("15:04"))}
}

// Do is what a choice asks for, as a row of the menu would; reply is set for
// words to send into the chat of that action.
func Do(c notify.Choice) (do menu.Action, reply string) {
	if id, ok := strings.CutPrefix(c.Key, ofRequest); ok {
		switch c.Button {
		case Allow:
			return menu.Action{Verb: menu.AllowOnce, Arg: id}, ""
		case Deny:
			return menu.Action{Verb: menu.Deny, Arg: id}, ""
		}
		return menu.Action{Verb: menu.Open}, ""
	}
	if key, ok := strings.CutPrefix(c.Key, ofChat); ok {
		return menu.Action{Verb: menu.Open, Arg: key}, c.Text
	}
	if c.Key == undeliv {
		return menu.Action{Verb: menu.Undelivd}, ""
	}
	return menu.Action{Verb: menu.Open}, ""
}
