package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/hook"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/internal/text"
)

// What programs that speak OpenAI's API need of the engine.

func (g *Gateway) openHook() {
	g.hook = hook.New(hook.Options{
		House: apiHouse{g}, Admit: g.door.Admit, Now: g.opts.Now, NewID: newUUID, Mark: untrusted.Wrapper{}.Wrap,
		Enabled: func() hook.Endpoints {
			e := g.config.Snapshot().Config.Gateway.HTTP.Endpoints
			return hook.Endpoints{Chat: e.ChatCompletions.Enabled, Responses: e.Responses.Enabled}
		},
	})
	g.toolGate.SetPrograms(g.hook)
}

// withProgramTools adds the tools that the program of a run brought. What they
// say is hidden like everything else that tools say.
func (g *Gateway) withProgramTools(rec session.Run, set *tool.Set) *tool.Set {
	more := g.hook.Tools(rec.ID)
	if len(more) == 0 {
		return set
	}
	out, err := set.With(more...)
	if err != nil { // names were compared before
		g.log.Error("the tools of a program are left out", "run", rec.ID, "err", err)
		return set
	}
	return out
}

// programRounds is for runs whose program runs tools of its own: it asks for each
// step by itself, and long work has many.
const programRounds = 250

func (g *Gateway) roundsOf(rec session.Run) int {
	if len(g.hook.Tools(rec.ID)) > 0 {
		return programRounds
	}
	return 0
}

// asksOf is what the program of a run wants of the model; nil for all others.
func (g *Gateway) asksOf(rec session.Run) *model.Options { return g.hook.Asked(rec.ID) }

func (g *Gateway) stopRun(ctx context.Context, key, runID string) {
	if _, err := g.session.Abort(ctx, key, runID); err != nil {
		g.log.Warn("a run of a program could not be stopped", "run", runID, "err", err)
	}
}

// apiFollower looks after the runs of programs.
type apiFollower struct{ g *Gateway }

// Begin stops a run that nobody waits for any more: it was accepted before a
// restart, and its program has left with it.
func (a apiFollower) Begin(run session.Run) {
	if channel.IsAPI(run.Route) && !a.g.hook.Begin(run.ID) {
		a.g.work.Go(func(context.Context) { a.g.stopRun(a.g.work.Context(), run.SessionKey, run.ID) })
	}
}
func (apiFollower) Think(string, string)                                      {}
func (apiFollower) Tool(string, string, []byte)                               {}
func (apiFollower) End(context.Context, session.Run, *protocol.Message, bool) {}
func (a apiFollower) Say(id, words string)                                    { a.g.hook.Say(id, words) }
func (a apiFollower) Intend(id string, msg model.Message, u model.Usage) {
	a.g.hook.Intend(id, a.g.code.WithoutPrograms(id, msg), u)
}
func (a apiFollower) Done(id string) { a.g.hook.Done(id) }

// apiHouse is the engine as package hook knows it.
type apiHouse struct{ g *Gateway }

// ownName is how the assistants are called as models.
const ownName = "hearth"

func (p apiHouse) Models() []hook.Model {
	created := p.g.started.Unix()
	out := []hook.Model{{ID: ownName, Owner: ownName, Created: created}}
	for _, a := range p.g.agents.Book().All() {
		out = append(out, hook.Model{ID: ownName + "/" + a.ID, Owner: ownName, Created: created})
	}
	for _, e := range p.g.models.Models() {
		if e.Available && !e.BuiltIn && e.Chosen && p.g.choice.Allowed(e.Ref) {
			out = append(out, hook.Model{ID: e.Ref.String(), Owner: e.Ref.Provider, Created: created})
		}
	}
	return out
}

// Find reads "hearth", "hearth/<agent>", what OpenClaw's programs say
// ("openclaw", "openclaw:<agent>", "agent:<agent>"), and "provider/model".
func (p apiHouse) Find(name, agent string) (hook.Target, error) {
	name = strings.TrimSpace(name)
	t := hook.Target{Agent: agent}
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
		ref := p.g.models.Named(name)
		listed := slices.ContainsFunc(p.Models(), func(m hook.Model) bool { return m.ID == ref.String() })
		if !listed && (!strings.Contains(name, "/") || p.g.choice.Check(ref.String()) != nil) {
			return t, hook.NoModel("There is no model %q here. Use \"hearth\", or one that GET /v1/models lists.", text.Ellipsis(name, 100))
		}
		if err := p.g.choice.Consented(ref); err != nil {
			return t, hook.NoModel("%s.", err)
		}
		t.Model = ref.String()
	}
	if t.Agent == "" {
		t.Agent = p.g.agents.Book().Default().ID
	}
	if _, ok := p.g.agents.Book().Get(t.Agent); !ok {
		return t, hook.NoModel("There is no assistant %q here. GET /v1/models lists them as hearth/<name>.", text.Ellipsis(t.Agent, 100))
	}
	return t, nil
}

func (apiHouse) Key(agent, name string) (string, error) {
	key, err := session.Canonical(name, agent)
	if err != nil {
		return "", hook.Invalid("", "%v", err)
	}
	return key, nil
}

func (p apiHouse) KeyOf(runID string, c pairing.Client) (string, bool) {
	rec, err := p.g.session.Why("", runID)
	if err != nil {
		return "", false
	}
	r, ok := channel.ParseRoute(rec.Route)
	if !ok || r.Channel != channel.API || r.Account != c.ID {
		return "", false
	}
	_, there, err := p.g.session.Get(rec.SessionKey)
	return rec.SessionKey, err == nil && there
}

func (p apiHouse) Begin(ctx context.Context, a hook.Ask) error {
	turn := session.Turn{
		RunID: a.RunID, SessionKey: a.Key, Text: a.Text, ForAgent: a.ForModel, Model: a.Model, Mode: session.Followup,
		Owner: a.Client.May(pairing.ClientOwner), Past: pastOf(a.Past),
		Route: channel.Route{Channel: channel.API, Account: a.Client.ID, Conversation: a.Key, Chat: channel.Direct}.String(),
	}
	if !turn.Owner {
		turn.Sender = "token:" + a.Client.ID
	}
	if a.Label != "" {
		turn.Origin = &session.Origin{Label: a.Label, Provider: channel.API, From: a.Client.ID, AccountID: a.Client.ID, ChatType: string(channel.Direct)}
	}
	switch {
	case strings.TrimSpace(turn.Text) == "":
		return hook.Invalid("messages", "The new message is empty.")
	case len(turn.Text) > protocol.MaxMessageText || len(turn.ForAgent) > 2*protocol.MaxMessageText:
		return hook.Invalid("messages", "The new messages have %d bytes together, at most %d are allowed.", len(turn.Text), protocol.MaxMessageText)
	case p.g.budget.Poor():
		return &hook.Error{Status: http.StatusTooManyRequests, Type: "insufficient_quota", Code: "insufficient_quota", NoRetry: true, Text: "The allowance for models is used up in Hearth. Its owner can allow more with /usage."}
	}
	if err := p.g.pause.Check(pause.CallModel); err != nil {
		return &hook.Error{Status: http.StatusServiceUnavailable, Type: "api_error", Code: "paused", NoRetry: true, Text: "Hearth is paused by its owner, so it asks no model now."}
	}
	var list []protocol.Attachment
	for _, pic := range a.Pictures {
		list = append(list, protocol.Attachment{Content: pic})
	}
	if len(list) > 0 {
		var err error
		if turn.Pictures, err = p.g.dispatch.Pictures(ctx, turn, list); err != nil {
			return asHook(err)
		}
	}
	_, err := p.g.dispatch.AcceptWords(ctx, turn, a.Named) // others begin and end with what the program sends
	return asHook(err)
}

// pastOf is what was said before in the form of transcripts.
func pastOf(past []hook.Message) []protocol.Message {
	names := map[string]string{}
	out := make([]protocol.Message, 0, len(past))
	for _, m := range past {
		msg := protocol.Message{Content: protocol.TextBlocks(m.Text)}
		switch m.Role {
		case hook.User:
			msg.Role = protocol.MessageUser
			if len(m.Pictures) > 0 { // only new ones are kept
				msg.Content = protocol.TextBlocks(strings.TrimSpace(m.Text + " (a picture)"))
			}
		case hook.Assistant:
			msg.Role, msg.Provider, msg.StopReason = protocol.MessageAssistant, channel.API, "stop"
			for _, c := range m.Calls {
				names[c.ID] = c.Name
				args := json.RawMessage(c.Arguments)
				if !json.Valid(args) || len(args) == 0 || args[0] != '{' {
					args = json.RawMessage("{}")
				}
				msg.Content = append(msg.Content, protocol.Block{Type: protocol.BlockToolCall, ID: c.ID, Name: c.Name, Arguments: args})
			}
		case hook.Tool:
			name, known := names[m.CallID]
			if !known { // a result of nothing: services refuse it
				continue
			}
			msg.Role, msg.ToolCallID, msg.ToolName = protocol.MessageToolResult, m.CallID, name
		}
		out = append(out, msg)
	}
	return out
}

// asHook gives errors of the engine the form of programs.
func asHook(err error) error {
	if err == nil {
		return nil
	}
	var pe *protocol.Error
	if !errors.As(method.ForClients("", err), &pe) {
		return err
	}
	switch {
	case pe.Details["code"] == "QUEUE_FULL":
		return hook.Busy(0, "queue_full", pe.Message)
	case pe.Code == protocol.CodeUnavailable:
		return &hook.Error{Status: 503, Type: "api_error", Text: pe.Message}
	}
	return hook.Invalid("", "%s", pe.Message)
}

func (p apiHouse) Wait(ctx context.Context, runID string) (hook.End, error) {
	out, err := p.g.session.Wait(ctx, runID)
	if err != nil {
		return hook.End{}, err
	}
	end := hook.End{State: hook.Failed, Stop: model.StopReason(out.Run.Stop), Usage: out.Usage, Model: out.Run.AnsweredBy, Kind: out.Run.ErrorKind, Problem: out.Run.ErrorText}
	switch out.Run.State {
	case session.RunAnswered:
		end.State = hook.Answered
	case session.RunAborted:
		end.State = hook.Stopped
	case session.RunDropped:
		end.State = hook.Dropped
	}
	if out.Message != nil {
		end.Text = out.Message.Text()
	}
	return end, nil
}

func (p apiHouse) Stop(ctx context.Context, key, runID string) { p.g.stopRun(ctx, key, runID) }

func (apiHouse) Waiting(ctx context.Context) (resume func()) { return gate.Waiting(ctx) }

func (p apiHouse) Vectors(ctx context.Context, texts []string) (string, [][]float32, error) {
	e := p.g.vectors.Embedder()
	if e == nil {
		return "", nil, hook.ErrNoVectors
	}
	v, err := e.Embed(ctx, texts)
	if err != nil {
		return "", nil, &hook.Error{Status: 502, Type: "api_error", Text: fmt.Sprintf("The vectors could not be made: %s.", p.g.redactor.Text(err.Error()))}
	}
	return e.Name(), v, nil
}
