package push

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Kinds of news.
const (
	kindApproval = "approval" // something waits for a yes
	kindAnswer   = "answer"
	kindReminder = "reminder"
	kindFailure  = "failure" // a planned job failed
	kindTest     = "test"
)

// How long news are worth telling.
const (
	answerLife   = 24 * time.Hour
	reminderLife = 4 * time.Hour
	testLife     = 5 * time.Minute
)

const (
	maxTitle = 80  // characters
	maxBody  = 240 // so that all of it fits into one record, in any script
)

// notice is one piece of news.
type notice struct {
	kind      string
	agent     string
	session   string
	run       string
	approval  string
	title     string
	text      string
	until     time.Time
	important bool // also in quiet hours
	device    string
}

// subject is what a later notice takes the place of.
func (n notice) subject() string { return n.kind + "\x00" + cmp.Or(n.approval, n.session, n.run) }

// hear makes notices of what clients are told. It does not block.
func (p *Push) hear(b server.Broadcast) {
	switch e := b.Payload.(type) {
	case protocol.Approval:
		if b.Event == protocol.EventExecApprovalRequested {
			p.queue.add(notice{
				kind: kindApproval, agent: e.Request.AgentID, session: e.Request.SessionKey, run: e.Request.RunID, approval: e.ID,
				text: cmp.Or(e.Request.HearthTitle, e.Request.Command), until: time.UnixMilli(e.ExpiresAtMs),
			})
		}
	case protocol.ApprovalResolved:
		p.queue.over(notice{kind: kindApproval, approval: e.ID})
	case protocol.ChatEvent:
		p.answered(e)
	case *protocol.ChatEvent:
		p.answered(*e)
	case protocol.CronEvent:
		p.planned(e)
	}
}

// answered is told of what happens in conversations.
func (p *Push) answered(e protocol.ChatEvent) {
	if e.State != protocol.ChatFinal && e.State != protocol.ChatError || !isChat(e.SessionKey) || isJob(e.RunID) {
		return
	}
	said := e.ErrorMessage
	if e.Message != nil {
		said = e.Message.Text()
	}
	if silent(said) && e.State != protocol.ChatError {
		return
	}
	p.queue.add(notice{
		kind: kindAnswer, agent: e.AgentID, session: e.SessionKey, run: e.RunID, text: said, until: p.o.Now().Add(answerLife),
	})
}

// planned is told of what happens to jobs.
func (p *Push) planned(e protocol.CronEvent) {
	if e.Action != "finished" {
		return
	}
	n := notice{run: e.RunID, session: e.SessionKey, until: p.o.Now().Add(reminderLife)}
	reminds := e.Hearth != nil && e.Hearth.Important
	n.important = reminds
	if j := e.Job; j != nil {
		n.agent, n.title = j.AgentID, j.Name
		n.session = cmp.Or(n.session, j.SessionKey)
		if j.Hearth != nil {
			reminds = reminds || j.Hearth.Reminder || j.Hearth.Important
			n.important = n.important || j.Hearth.Important
		}
	}
	switch {
	case e.Status == protocol.CronError:
		n.kind, n.text = kindFailure, e.Error
	case e.Status == protocol.CronOK && reminds:
		n.kind, n.text = kindReminder, cmp.Or(e.Summary, n.title)
	default:
		return
	}
	p.queue.add(n)
}

// isChat: a conversation that a person has on a page. What is said on messaging
// networks arrives there.
func isChat(key string) bool {
	return strings.Contains(key, ":chat:") || strings.HasSuffix(key, ":"+session.MainAlias)
}

// isJob: runs of jobs and heartbeats tell of themselves, by jobs' events.
func isJob(runID string) bool {
	return slices.ContainsFunc([]string{"cron:", "manual:", "heartbeat:"}, func(p string) bool { return strings.HasPrefix(runID, p) })
}

// silent: words by which models say that there is nothing to say.
func silent(said string) bool {
	said = strings.TrimSpace(said)
	return said == "" || strings.EqualFold(said, "NO_REPLY") || said == "HEARTBEAT_OK"
}

// pointless reports whether nobody needs to be told any more: somebody looks at it,
// or it went to a messaging network.
func (p *Push) pointless(n notice) bool {
	if n.kind != kindAnswer {
		return false
	}
	for _, c := range p.o.Clients.Presence() {
		if c.HearthView == n.session {
			return true
		}
	}
	rec, err := p.o.Sessions.Why(n.session, n.run)
	if err != nil {
		return false
	}
	to, _ := rec.Towards()
	r, ok := channel.ParseRoute(to)
	return ok && r.Delivered()
}

// wanting are those whom a notice is for: their device may know of it, and they want
// to.
func (p *Push) wanting(n notice) (out []subscription) {
	need := protocol.ScopeRead
	if n.kind == kindApproval {
		need = protocol.ScopeApprovals
	}
	may := map[string]bool{}
	for _, d := range p.o.Devices.Devices() {
		may[d.ID] = mayHear(d, need)
	}
	for _, s := range p.subs.list() {
		if may[s.DeviceID] && (n.device == "" || n.device == s.DeviceID) && wants(effective(s.Wants), n, p.o.Now()) {
			out = append(out, s)
		}
	}
	return out
}

func mayHear(d pairing.Device, need protocol.Scope) bool {
	return d.RevokedAtMs == 0 && slices.ContainsFunc(d.Roles, func(r pairing.RoleGrant) bool {
		return r.Role == protocol.RoleOperator && r.RevokedAtMs == 0 && protocol.Allows(r.Scopes, need)
	})
}

// payload is what a browser gets. What is not allowed is not in it.
type payload struct {
	V     int    `json:"v"`
	Ref   string `json:"ref"`
	Kind  string `json:"kind,omitempty"`
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
}

// payloadFor makes what a device gets of a notice.
func (p *Push) payloadFor(ctx context.Context, e protocol.PushEffective, n notice) (payload, error) {
	ref, err := p.places.put(ctx, protocol.PushPlace{Found: true, Kind: n.kind, SessionKey: n.session, ApprovalID: n.approval})
	if err != nil {
		return payload{}, err
	}
	out := payload{V: 1, Ref: ref}
	if e.DetailLevel == private {
		return out, nil
	}
	out.Kind, out.Title = n.kind, p.shown(cmp.Or(n.title, p.titleOf(n.session)), maxTitle)
	if e.DetailLevel == detailed {
		out.Body = p.shown(n.text, maxBody)
	}
	return out, nil
}

func (p *Push) titleOf(key string) string {
	row, ok, err := p.o.Sessions.Get(key)
	if err != nil || !ok {
		return ""
	}
	return cmp.Or(row.Label, row.DerivedTitle)
}

// shown makes one line of words, without secrets.
func (p *Push) shown(s string, most int) string {
	return text.Ellipsis(strings.Join(strings.Fields(p.o.Redactor.Text(s)), " "), most)
}
