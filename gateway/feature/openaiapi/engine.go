package openaiapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/openaiserver"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/internal/text"
)

// The engine as package openaiserver knows it.

// ownName is how the assistants are called as models.
const ownName = "hearth"

func (f *feature) Models() []openaiserver.Model {
	created := f.o.Started.Unix()
	out := []openaiserver.Model{{ID: ownName, Owner: ownName, Created: created}}
	for _, a := range f.o.Agents.Book().All() {
		out = append(out, openaiserver.Model{ID: ownName + "/" + a.ID, Owner: ownName, Created: created})
	}
	for _, e := range f.o.Models.Models() {
		if e.Available && !e.BuiltIn && e.Chosen && f.o.Choice.Allowed(e.Ref) {
			out = append(out, openaiserver.Model{ID: e.Ref.String(), Owner: e.Ref.Provider, Created: created})
		}
	}
	return out
}

// Find reads "hearth", "hearth/<agent>", what OpenClaw's programs say
// ("openclaw", "openclaw:<agent>", "agent:<agent>"), and "provider/model".
func (f *feature) Find(name, agent string) (openaiserver.Target, error) {
	name = strings.TrimSpace(name)
	t := openaiserver.Target{Agent: agent}
	switch {
	case name == "" || name == ownName || name == "openclaw" || name == ownName+"/default" || name == "openclaw/default":
	default:
		found := false
		for _, head := range []string{ownName + "/", ownName + ":", "openclaw:", "openclaw/", "agent:"} {
			if id, ok := strings.CutPrefix(name, head); ok {
				t.Agent, found = id, true
				break
			}
		}
		if found {
			break
		}
		ref := f.o.Models.Named(name)
		listed := slices.ContainsFunc(f.Models(), func(m openaiserver.Model) bool { return m.ID == ref.String() })
		if !listed && (!strings.Contains(name, "/") || f.o.Choice.Check(ref.String()) != nil) {
			return t, openaiserver.NoModel("There is no model %q here. Use \"hearth\", or one that GET /v1/models lists.", text.Ellipsis(name, 100))
		}
		if err := f.o.Choice.Consented(ref); err != nil {
			return t, openaiserver.NoModel("%s.", err)
		}
		t.Model = ref.String()
	}
	if t.Agent == "" {
		t.Agent = f.o.Agents.Book().Default().ID
	}
	if _, ok := f.o.Agents.Book().Get(t.Agent); !ok {
		return t, openaiserver.NoModel("There is no assistant %q here. GET /v1/models lists them as hearth/<name>.", text.Ellipsis(t.Agent, 100))
	}
	return t, nil
}

func (*feature) Key(agent, name string) (string, error) {
	key, err := session.Canonical(name, agent)
	if err != nil {
		return "", openaiserver.Invalid("", "%v", err)
	}
	return key, nil
}

func (f *feature) KeyOf(runID string, c pairing.Client) (string, bool) {
	rec, err := f.o.Sessions.Why("", runID)
	if err != nil {
		return "", false
	}
	r, ok := channel.ParseRoute(rec.Route)
	if !ok || r.Channel != channel.API || r.Account != c.ID {
		return "", false
	}
	_, there, err := f.o.Sessions.Get(rec.SessionKey)
	return rec.SessionKey, err == nil && there
}

func (f *feature) Begin(ctx context.Context, a openaiserver.Ask) error {
	turn := session.Turn{
		RunID: a.RunID, SessionKey: a.Key, Text: a.Text, ForAgent: a.ForModel, Model: a.Model, Mode: session.Followup,
		Owner: a.Client.May(pairing.ClientOwner), Past: pastOf(a.Past),
		Route: channel.Route{Channel: channel.API, Account: a.Client.ID, Conversation: a.Key, Chat: channel.Direct}.String(),
	}
	if !turn.Owner {
		turn.Sender = "token:" + a.Client.ID
	}
	if a.Label != "" {
		turn.Origin = &session.Origin{Label: a.Label, Provider: channel.API, From: a.Client.ID, AccountID: a.Client.ID,
			ChatType: string(channel.Direct)}
	}
	switch {
	case strings.TrimSpace(turn.Text) == "":
		return openaiserver.Invalid("messages", "The new message is empty.")
	case len(turn.Text) > protocol.MaxMessageText || len(turn.ForAgent) > 2*protocol.MaxMessageText:
		return openaiserver.Invalid("messages", "The new messages have %d bytes together, at most %d are allowed.", len(turn.Text),
			protocol.MaxMessageText)
	case f.o.Budget.Poor():
		return &openaiserver.Error{Status: http.StatusTooManyRequests, Type: "insufficient_quota", Code: "insufficient_quota", NoRetry: true,
			Text: "The allowance for models is used up in Hearth. Its owner can allow more with /usage."}
	}
	if err := f.o.Pause.Check(pause.CallModel); err != nil {
		return &openaiserver.Error{Status: http.StatusServiceUnavailable, Type: "api_error", Code: "paused", NoRetry: true,
			Text: "Hearth is paused by its owner, so it asks no model now."}
	}
	var list []protocol.Attachment
	for _, pic := range a.Pictures {
		list = append(list, protocol.Attachment{Content: pic})
	}
	if len(list) > 0 {
		var err error
		if turn.Pictures, err = f.o.Dispatch.Pictures(ctx, turn, list); err != nil {
			return asHook(err)
		}
	}
	_, err := f.o.Dispatch.AcceptWords(ctx, turn, a.Named) // others begin and end with what the program sends
	return asHook(err)
}

func (f *feature) Wait(ctx context.Context, runID string) (openaiserver.End, error) {
	out, err := f.o.Sessions.Wait(ctx, runID)
	if err != nil {
		return openaiserver.End{}, err
	}
	end := openaiserver.End{State: openaiserver.Failed, Stop: model.StopReason(out.Run.Stop), Usage: out.Usage, Model: out.Run.AnsweredBy,
		Kind: out.Run.ErrorKind, Problem: forPrograms(out.Run.ErrorText)}
	if out.Run.RetryAt > out.Run.EndedAt {
		end.Wait = time.Duration(out.Run.RetryAt-out.Run.EndedAt) * time.Millisecond
	}
	switch {
	case out.Run.State == session.RunAnswered, out.Run.State == session.RunFailed && end.Stop == model.StopRefusal:
		end.State = openaiserver.Answered // that a model declined is an end of its own there, and no error
	case out.Run.State == session.RunAborted:
		end.State = openaiserver.Stopped
	case out.Run.State == session.RunDropped:
		end.State = openaiserver.Dropped
	}
	if out.Message != nil {
		end.Text = out.Message.Text()
	}
	return end, nil
}

func (*feature) Waiting(ctx context.Context) (resume func()) { return gate.Waiting(ctx) }

func (f *feature) Vectors(ctx context.Context, texts []string) (string, [][]float32, error) {
	e := f.o.Vectors.Embedder()
	if e == nil {
		return "", nil, openaiserver.ErrNoVectors
	}
	v, err := e.Embed(ctx, texts)
	if err != nil {
		return "", nil, &openaiserver.Error{Status: 502, Type: "api_error", Text: fmt.Sprintf("The vectors could not be made: %s.",
			f.o.Secrets.Text(err.Error()))}
	}
	return e.Name(), v, nil
}
