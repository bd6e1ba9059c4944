package cron

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

const (
	mostOpen     = 20                  // proposals that wait for an answer
	mostAnswered = 200                 // that are remembered
	openFor      = 7 * 24 * time.Hour  // a proposal without an answer is forgotten
	declinedFor  = 90 * 24 * time.Hour // and what was declined is not proposed again
)

// Errors for people.
var (
	errDeclined   = errors.New("the person has said no to this before; do not propose it again unless they ask for it")
	errNoProposal = errors.New("there is no such proposal any more")
)

// proposal is something that becomes a job after a yes.
type proposal struct {
	protocol.CronProposal
	Declined int64 `json:"declined,omitempty"` // when; 0: nobody has answered
}

func (p *proposal) key() string {
	return p.AgentID + "\x00" + strings.ToLower(strings.Join(strings.FieldsFunc(p.Text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " "))
}

// proposals are those that are kept, the oldest first.
func (f *feature) proposals(tx *store.Tx) (all []proposal, err error) {
	for row, err := range f.wishes.Scan(tx, store.Range{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, row.Value)
	}
	slices.SortFunc(all, func(a, b proposal) int { return cmp.Compare(a.CreatedAtMs, b.CreatedAtMs) })
	return all, nil
}

// waiting are the proposals that somebody may still answer.
func (f *feature) waiting() (out protocol.CronProposals, err error) {
	out.Proposals = []protocol.CronProposal{}
	err = f.DB.View(func(tx *store.Tx) error {
		all, err := f.proposals(tx)
		for _, p := range all {
			if f.open(&p) {
				out.Proposals = append(out.Proposals, p.CronProposal)
			}
		}
		return err
	})
	return out, err
}

func (f *feature) open(p *proposal) bool {
	now := f.Now().UnixMilli()
	return p.Declined == 0 && p.AtMs > now && p.CreatedAtMs > now-openFor.Milliseconds()
}

func (f *feature) proposed(context.Context, method.None) (protocol.CronProposals, error) {
	return f.waiting()
}

// propose keeps something that the assistant would do. Nothing is planned by that.
func (f *feature) propose(ctx context.Context, p protocol.CronProposal) (protocol.CronProposal, error) {
	now := f.Now()
	plan, err := schedule.Compile(p.Schedule, schedule.Options{Zone: f.zone(), Created: now.UnixMilli()})
	if err == nil {
		err = plan.Calm()
	}
	if err != nil {
		return p, err
	}
	next := plan.Slots(now.UnixMilli(), 1)
	if len(next) == 0 {
		return p, errors.New("this time is over")
	}
	st := f.style()
	p.ID, p.CreatedAtMs, p.AtMs = uuid.New(), now.UnixMilli(), next[0]
	p.Words, p.Zone = schedule.Words(p.Schedule, st), cmp.Or(p.Schedule.TZ, st.ZoneName)
	mine := proposal{CronProposal: p}
	err = f.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		all, err := f.proposals(tx)
		if err != nil {
			return err
		}
		open, over := 0, 0
		for _, o := range slices.Backward(all) {
			same, drop := o.key() == mine.key(), false
			switch {
			case same && o.Declined > now.Add(-declinedFor).UnixMilli():
				return errDeclined
			case same || !f.open(&o) && o.Declined == 0: // said anew, or forgotten
				drop = true
			case o.Declined == 0:
				open++
				drop = open >= mostOpen
			default:
				over++
				drop = over >= mostAnswered
			}
			if drop {
				if err := f.wishes.Delete(tx, []byte(o.ID)); err != nil {
					return err
				}
			}
		}
		return f.wishes.Put(tx, []byte(p.ID), mine)
	}})
	if err == nil {
		f.showProposals()
	}
	return p, err
}

func (f *feature) showProposals() {
	if all, err := f.waiting(); err == nil {
		f.Clients.Broadcast(server.Broadcast{Event: protocol.EventCronProposals, Payload: all})
	}
}

// answer makes a job of a proposal, or remembers that it is not wanted.
func (f *feature) answer(ctx context.Context, p protocol.CronProposalParams) (out protocol.CronProposalAnswered, err error) {
	var was proposal
	err = f.DB.View(func(tx *store.Tx) error {
		var ok bool
		was, ok, err = f.wishes.Get(tx, []byte(p.ID))
		if err == nil && (!ok || !f.open(&was)) {
			err = protocol.Invalid("%s", protocol.Sentence(errNoProposal.Error()))
		}
		return err
	})
	if err != nil {
		return out, err
	}
	if p.Yes {
		s := f.wanted(was.CronProposal)
		if p.When != "" {
			if s.Schedule, err = spoken(p.When, f.Now().In(f.zone())); err != nil {
				return out, protocol.Invalid("%s", protocol.Sentence(err.Error()))
			}
		}
		added, err := f.addFor(ctx, s, false)
		if err != nil {
			return out, err
		}
		out.Job = &added.CronJob
	}
	err = f.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		if p.Yes {
			return f.wishes.Delete(tx, []byte(p.ID))
		}
		was.Declined = f.Now().UnixMilli()
		return f.wishes.Put(tx, []byte(p.ID), was)
	}})
	out.OK = err == nil
	if out.OK {
		f.proposalOver(p.ID, p.Yes)
	}
	f.showProposals()
	return out, err
}

// wanted is the job of a proposal. A second yes, said at the same moment from
// somewhere else, finds the first one's job by its declaration key.
func (f *feature) wanted(p protocol.CronProposal) protocol.CronSpec {
	s := protocol.CronSpec{
		Name: headline(p.Text), DeclarationKey: "proposal:" + p.ID, Schedule: p.Schedule,
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "You said that you would do this: “" + p.Text + "”. Do it now."},
	}
	if p.Kind == kindReminder {
		s.Payload = protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: p.Text}
		s.Hearth = &protocol.CronOwn{Reminder: true}
	}
	return f.inSession(p.SessionKey, s)
}

const kindReminder, kindTask = "reminder", "task"

// vows looks whether an answer promises something, when it is on disk.
func (f *feature) vows(tx *store.Tx, ev protocol.ChatEvent, run session.Run) {
	if run.State != session.RunAnswered || !run.Owner || run.Outside || run.Relay != (session.Relay{}) || ev.Message == nil {
		return
	}
	if r, ok := channel.ParseRoute(run.Route); ok && r.Delivered() && r.Chat != channel.Direct {
		return
	}
	p, ok := promised(ev.Message.Text(), f.Now().In(f.zone()))
	if !ok {
		return
	}
	tx.OnCommit(func() {
		f.Work.Go(func(ctx context.Context) { f.promisedBy(ctx, p, run) })
	})
}

// promisedBy proposes what an answer promised, unless the answer has made a job or
// proposed it already, or has read text from outside.
func (f *feature) promisedBy(ctx context.Context, p promise, run session.Run) {
	agent := f.Agents.OfSession(run.SessionKey).ID
	if f.Taint.Outside(tool.Call{Scope: tool.Scope{RunID: run.ID, SessionKey: run.SessionKey, AgentID: agent, Owner: true}}) {
		return
	}
	jobs, _ := f.book.All()
	for _, j := range jobs {
		mine := j.SessionKey == run.SessionKey || j.CronSpec.Owner != nil && j.CronSpec.Owner.SessionKey == run.SessionKey
		if mine && j.CreatedAt >= run.StartedAt {
			return
		}
	}
	open, err := f.waiting()
	for _, o := range open.Proposals {
		if o.SessionKey == run.SessionKey && o.CreatedAtMs >= run.StartedAt {
			return
		}
	}
	if err == nil {
		var made protocol.CronProposal
		made, err = f.propose(ctx, protocol.CronProposal{
			AgentID: agent, SessionKey: run.SessionKey, Kind: kindOf(p.remind), Text: p.text, Schedule: ofPlan(p.plan),
		})
		if err == nil {
			f.askProposal(run.ID, made)
		}
	}
	if err != nil && !errors.Is(err, errDeclined) && ctx.Err() == nil {
		f.Logger.Warn("what the assistant promised could not be proposed", "run", run.ID, "err", err)
	}
}

func kindOf(remind bool) string {
	if remind {
		return kindReminder
	}
	return kindTask
}

// suggested is what a model is told of a proposal.
type suggested struct {
	ID       string `json:"id"`
	Proposed bool   `json:"proposed"`
	Words    string `json:"words"`
	Note     string `json:"note"`
}

// propose is the tool's action: the person is asked, and nothing is planned.
func (t *cronTool) propose(ctx context.Context, call tool.Call, in toolArgs) (any, error) {
	if in.Text == "" || in.When == "" {
		return nil, errors.New("propose needs when and text")
	}
	at, err := spoken(in.When, t.f.Now().In(t.f.zone()))
	if err != nil {
		return nil, err
	}
	p, err := t.f.propose(ctx, protocol.CronProposal{
		AgentID: call.AgentID, SessionKey: call.SessionKey, Kind: kindOf(in.Kind != kindTask), Text: in.Text, Schedule: at,
	})
	if err != nil {
		return nil, err
	}
	t.f.askProposal(call.RunID, p)
	id := p.ID[:min(shortID, len(p.ID))]
	return suggested{ID: p.ID, Proposed: true, Words: p.Words, Note: "Nothing is planned yet: the person sees a card with Yes, No and " +
		"Change, or answers /cron yes " + id + ". Say that you would do it if they say yes."}, nil
}

// cmdAnswer is /cron yes and /cron no.
func (f *feature) cmdAnswer(ctx context.Context, key, name string, yes bool) (string, error) {
	open, err := f.waiting()
	if err != nil {
		return "", err
	}
	for _, p := range slices.Backward(open.Proposals) {
		if name != "" && !strings.HasPrefix(p.ID, name) || name == "" && p.SessionKey != key {
			continue
		}
		out, err := f.answer(ctx, protocol.CronProposalParams{ID: p.ID, Yes: yes})
		if err != nil || !yes {
			return "It is not planned, and I will not ask for it again: **" + oneLine(headline(p.Text)) + "**.", err
		}
		return "Planned: **" + oneLine(out.Job.Name) + "**, " + f.dueWords(out.Job) + ".", nil
	}
	return "There is nothing to say yes or no to. `/cron list` shows what is planned.", nil
}
