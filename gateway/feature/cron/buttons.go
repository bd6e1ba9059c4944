package cron

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/question"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Buttons on networks: below a reminder to be reminded again, and yes and no to what the
// assistant would do. Pressing one is the same as typing the command that stands in it.

const (
	// buttonsFor is how long a reminder's can be pressed.
	buttonsFor = 3 * 24 * time.Hour
	// proposalFor is the same of a proposal, at most until its time.
	proposalFor = 7 * 24 * time.Hour
	// longestAsked is how long a reminder with buttons can be: one message.
	longestAsked = 1500

	aboutReminder, aboutProposal = "reminder:", "proposal:"
)

// snoozeButtons are those of a reminder that the owner is sent, nil for any other result.
func (f *feature) snoozeButtons(tx *store.Tx, r *job.Run, w way) ([]channel.Choice, error) {
	own := r.Spec.Hearth
	if own == nil || !own.Reminder || w.label != reminderLabel || w.route.Chat != channel.Direct || len(w.text) > longestAsked {
		return nil, nil
	}
	var all []question.Option
	if own.Important {
		all = append(all, question.Option{Label: "Seen", Says: "/cron seen " + r.RunID, Tone: channel.Good})
	}
	for _, o := range []struct {
		label   string
		minutes int
	}{{"In 10 minutes", 10}, {"In an hour", 60}, {"Tomorrow", 24 * 60}} {
		all = append(all, question.Option{Label: o.label, Says: fmt.Sprintf("/cron later %s %d", r.RunID, o.minutes)})
	}
	return f.Owner.Desk().Place(tx, question.Question{
		Subject: aboutReminder + r.RunID, Channel: w.route.Channel, To: w.route.Target(""), Text: w.text, Options: all, Owner: true,
		Until: f.Now().Add(buttonsFor),
	})
}

// askProposal asks the owner, where they wrote, about what the assistant would do. Where
// there are no buttons the assistant's own words have to do.
func (f *feature) askProposal(runID string, p protocol.CronProposal) {
	until := f.Now().Add(proposalFor)
	if at := time.UnixMilli(p.AtMs); at.Before(until) {
		until = at
	}
	f.Owner.Ask(runID, question.Question{
		Subject: aboutProposal + p.ID, Text: "Shall I plan this? **" + oneLine(headline(p.Text)) + "**, " + p.Words, Until: until,
		Options: []question.Option{
			{Label: "Yes", Says: "/cron yes " + p.ID, Tone: channel.Good}, {Label: "No", Says: "/cron no " + p.ID, Tone: channel.Danger},
		},
	}, "")
}

// proposalOver takes the buttons of a proposal away that was answered elsewhere.
func (f *feature) proposalOver(id string, yes bool) {
	said := "✗ Not planned"
	if yes {
		said = "✓ Planned"
	}
	f.Owner.Over(aboutProposal+id, said)
}

// cmdReminded is /cron seen and /cron later, with the id of a run.
func (f *feature) cmdReminded(ctx context.Context, do, args string) (string, error) {
	words := strings.Fields(args)
	if len(words) == 0 {
		return "Say which reminder: its buttons do.", nil
	}
	if _, ok, err := f.book.Find(words[0]); err != nil || !ok {
		return "This reminder is not known any more.", err
	}
	if do == "seen" {
		_, err := f.seen(ctx, protocol.CronSeenParams{RunID: words[0]})
		return "Good. I will not remind you of it again.", err
	}
	minutes := 10
	if len(words) > 1 {
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 || len(words) > 2 {
			return "Say in how many minutes, as in `/cron later ID 30`.", nil
		}
		minutes = n
	}
	j, err := f.snooze(ctx, protocol.CronSnoozeParams{RunID: words[0], Minutes: minutes})
	if err != nil {
		return "", err
	}
	return "I remind you again: **" + oneLine(cmp.Or(j.Name, "Reminder")) + "**, " + f.dueWords(&j) + ".", nil
}
