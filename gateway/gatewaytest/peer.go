package gatewaytest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Peer is a connected client that remembers every event.
type Peer struct {
	*client.Client
	T testing.TB

	Mu     sync.Mutex
	Events []protocol.Event
	grown  chan struct{} // closed and replaced with every event
}

// Do calls a method that must not fail.
func (p *Peer) Do(method string, params, result any) {
	p.T.Helper()
	if err := p.Call(p.T.Context(), method, params, result); err != nil {
		p.T.Fatalf("%s: %v", method, err)
	}
}

// Until waits for an event that match accepts and returns it.
func (p *Peer) Until(what string, match func(protocol.Event) bool) protocol.Event {
	p.T.Helper()
	deadline := time.After(20 * time.Second)
	for seen := 0; ; {
		p.Mu.Lock()
		for ; seen < len(p.Events); seen++ {
			if match(p.Events[seen]) {
				ev := p.Events[seen]
				p.Mu.Unlock()
				return ev
			}
		}
		grown := p.grown
		p.Mu.Unlock()
		select {
		case <-grown:
		case <-deadline:
			p.T.Fatalf("no %s came; events: %s", what, p.names())
		}
	}
}

func (p *Peer) names() (s string) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	for _, ev := range p.Events {
		s += ev.Event + " "
	}
	return s
}

// ChatOf reads a chat event.
func ChatOf(ev protocol.Event) (c protocol.ChatEvent, ok bool) {
	if ev.Event != protocol.EventChat {
		return c, false
	}
	return c, json.Unmarshal(ev.Payload, &c) == nil
}

// ChatEvents returns the chat events of a run so far.
func (p *Peer) ChatEvents(runID string) (out []protocol.ChatEvent) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	for _, ev := range p.Events {
		if c, ok := ChatOf(ev); ok && c.RunID == runID {
			out = append(out, c)
		}
	}
	return out
}

// Ended waits for a run's terminal event.
func (p *Peer) Ended(runID string) (c protocol.ChatEvent) {
	p.T.Helper()
	p.Until("end of run "+runID, func(ev protocol.Event) bool {
		got, ok := ChatOf(ev)
		c = got
		return ok && got.RunID == runID && got.State != protocol.ChatDelta && got.State != protocol.ChatStatus
	})
	return c
}

// Send sends a message.
func (p *Peer) Send(key, runID, text string) protocol.ChatSendResult {
	p.T.Helper()
	var res protocol.ChatSendResult
	p.Do(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: runID}, &res)
	return res
}

// Say sends a message and returns the text of its end.
func (p *Peer) Say(key, id, text string) protocol.ChatEvent {
	p.T.Helper()
	p.Send(key, id, text)
	return p.Ended(id)
}

// History is what a session shows.
func (p *Peer) History(key string) (h protocol.ChatHistory) {
	p.T.Helper()
	p.Do(protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: key, Limit: 1000}, &h)
	return h
}

// Refused calls a method that must fail, and returns why.
func (p *Peer) Refused(method string, params any) string {
	p.T.Helper()
	err := p.Call(p.T.Context(), method, params, nil)
	if err == nil {
		p.T.Errorf("%s %+v was done", method, params)
		return ""
	}
	return err.Error()
}

// Patch changes the settings.
func (p *Peer) Patch(v any) {
	p.T.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		p.T.Fatal(err)
	}
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw)}, nil)
}

// Workspace gives the assistant a workspace of the test's own.
func Workspace(t *testing.T, p *Peer) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Hearth")
	p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"workspace": dir}}})
	return dir
}

// Token makes a token for a program.
func (p *Peer) Token(name string, scopes ...string) protocol.TokenCreated {
	p.T.Helper()
	var res protocol.TokenCreated
	p.Do(protocol.MethodTokensCreate, protocol.TokenCreateParams{Name: name, Scopes: scopes}, &res)
	return res
}

// Spent is what models cost today.
func (p *Peer) Spent() (cost protocol.UsageCost, status protocol.UsageStatus) {
	p.T.Helper()
	p.Do(protocol.MethodUsageCost, protocol.UsageCostParams{Days: 1}, &cost)
	p.Do(protocol.MethodUsageStatus, nil, &status)
	return cost, status
}

// Told waits for a notice of Hearth's own and returns it.
func (p *Peer) Told(part string) string {
	p.T.Helper()
	var m protocol.SessionMessage
	p.Until("notice with "+part, func(ev protocol.Event) bool {
		m = protocol.SessionMessage{}
		return ev.Event == protocol.EventSessionMessage && json.Unmarshal(ev.Payload, &m) == nil && m.Message != nil &&
			m.Message.Role == protocol.MessageSystem && strings.Contains(m.Message.Text(), part)
	})
	return m.Message.Text()
}

// Question waits for the n-th question that a client hears of.
func Question(p *Peer, n int) (a protocol.Approval) {
	p.T.Helper()
	seen := map[string]bool{}
	p.Until("question", func(ev protocol.Event) bool {
		var got protocol.Approval
		if ev.Event != protocol.EventExecApprovalRequested || decode(ev.Payload, &got) != nil {
			return false
		}
		seen[got.ID], a = true, got
		return len(seen) == n
	})
	return a
}

func decode(raw []byte, into any) error { return json.Unmarshal(raw, into) }

// Found searches and tells what was found: "key role text".
func (p *Peer) Found(query, key string) (out []string) {
	p.T.Helper()
	var res protocol.SessionsSearch
	p.Do(protocol.MethodSessionsSearch, protocol.SessionsSearchParams{Query: query, Key: key}, &res)
	for _, h := range res.Results {
		out = append(out, fmt.Sprintf("%s %s %s", h.SessionKey, h.Role, h.Snippet))
	}
	return out
}

// Use calls a tool as the owner and decides about what is asked meanwhile.
func (p *Peer) Use(name string, args any, decide string) (res protocol.ToolsInvokeResult, asked []protocol.Approval) {
	p.T.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		p.T.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- p.Call(p.T.Context(), protocol.MethodToolsInvoke, protocol.ToolsInvokeParams{Name: name, Args: raw}, &res)
	}()
	p.Mu.Lock()
	seen := len(p.Events)
	p.Mu.Unlock()
	for {
		p.Mu.Lock()
		grown := p.grown
		for ; seen < len(p.Events); seen++ {
			var a protocol.Approval
			if ev := p.Events[seen]; ev.Event == protocol.EventExecApprovalRequested && json.Unmarshal(ev.Payload, &a) == nil {
				asked = append(asked, a)
				go func() {
					_ = p.Call(p.T.Context(), protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: decide}, nil)
				}()
			}
		}
		p.Mu.Unlock()
		select {
		case <-grown:
		case err := <-done:
			if err != nil {
				p.T.Fatal(err)
			}
			return res, asked
		}
	}
}

// ResultText is what a tool said.
func ResultText(res protocol.ToolsInvokeResult) string {
	if res.Error != nil {
		return res.Error.Message
	}
	var b strings.Builder
	for _, c := range res.Output.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}
