package openaiserver

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/pairing"
)

// Headers with which a program names a conversation, an assistant and its model. The first
// of each is ours, the others OpenClaw's.
func sessionHeaders() []string { return []string{"X-Hearth-Session", "X-Openclaw-Session-Key"} }
func agentHeaders() []string   { return []string{"X-Hearth-Agent", "X-Openclaw-Agent-Id"} }
func modelHeaders() []string   { return []string{"X-Hearth-Model", "X-Openclaw-Model"} }

// firstOf is the first header that is there.
func firstOf(r *http.Request, names []string) string {
	for _, n := range names {
		if v := strings.TrimSpace(r.Header.Get(n)); v != "" {
			return v
		}
	}
	return ""
}

// place is the conversation of a request.
type place struct {
	key    string
	label  string
	follow bool // the next request is recognized by what was said
}

// place finds the conversation: the one that is named, the one of an answer
// that this follows, the one of the user, the one that has come exactly so far,
// or a new one. All of them lie below the client's own name; only a token with
// the owner's right reaches others.
func (h *Handler) place(r *http.Request, v *visit, t Target, req *Request, past []Message) (place, error) {
	label := "API: " + v.client.Name
	if name := firstOf(r, sessionHeaders()); name != "" {
		return h.named(v.client, t, name, label)
	}
	if req.Previous != "" {
		key, ok := h.Engine.KeyOf(runOf(req.Previous), v.client)
		if !ok {
			return place{}, &Error{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "previous_response_not_found",
				Param: "previous_response_id",
				Text:  "There is no such answer of this token's, or its conversation was deleted. Send what was said as input."}
		}
		return place{key: key, label: label}, nil
	}
	if req.User != "" {
		if !utf8.ValidString(req.User) || strings.ContainsFunc(req.User, unicode.IsControl) {
			return place{}, Invalid("user", "user must be one line of text.")
		}
		key, err := h.own(v.client, t.Agent, "user", req.User)
		return place{key: key, label: label + " · " + clip(req.User, 40)}, err
	}
	if len(past) > 0 {
		if key, ok := h.heads.take(headOf(v.client.ID, t.Agent, past)); ok {
			return place{key: key, label: label, follow: true}, nil
		}
	}
	key, err := h.Engine.Key(t.Agent, "api:"+v.client.ID+":"+h.NewID())
	return place{key: key, label: label, follow: true}, err
}

// named is the conversation that a header names.
func (h *Handler) named(c pairing.Client, t Target, name, label string) (place, error) {
	if len(name) > maxUser || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return place{}, Invalid("", "The name of the conversation must be one line of at most %d bytes.", maxUser)
	}
	if c.May(pairing.ClientOwner) {
		key, err := h.Engine.Key(t.Agent, name)
		return place{key: key}, err
	}
	if own, err := h.Engine.Key(t.Agent, "api:"+c.ID+":"); err == nil && strings.HasPrefix(name, own) {
		return place{key: name, label: label}, nil // as it was told before
	}
	if strings.HasPrefix(name, "agent:") {
		return place{}, forbidden("This token reaches conversations of its own only. Name one as you like, without agent: in front, or make a " +
			"token with --scope owner.")
	}
	key, err := h.own(c, t.Agent, "name", name)
	return place{key: key, label: label + " · " + clip(name, 40)}, err
}

// own makes the key of a client's own conversation. What the program calls it
// may be anything, so its digest stands in the key.
func (h *Handler) own(c pairing.Client, agent, kind, name string) (string, error) {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return h.Engine.Key(agent, "api:"+c.ID+":"+kind+"-"+hex.EncodeToString(sum[:8]))
}

// split divides what was sent into what was said before and what is new: all
// behind the assistant's last message.
func split(all []Message) (past, now []Message) {
	i := len(all)
	for i > 0 && all[i-1].Role != Assistant {
		i--
	}
	return all[:i], all[i:]
}

// words make one message of what is new. Results that no run waits for any
// more, as after a restart, are told in words.
func words(past, now []Message) (text, forModel string, pictures []string) {
	var said, results []string
	for _, m := range now {
		pictures = append(pictures, m.Pictures...)
		if m.Role == Tool {
			results = append(results, "Result of "+nameOf(past, m.CallID)+":\n"+m.Text)
		} else if m.Text != "" {
			said = append(said, m.Text)
		}
	}
	text = strings.Join(said, "\n\n")
	if len(results) > 0 {
		forModel = "[The program ran the tools that were asked for.]\n\n" + strings.Join(append(results, said...), "\n\n")
	}
	switch {
	case strings.TrimSpace(text) != "":
	case len(results) > 0:
		text = "(results of tools)"
	case len(pictures) > 0:
		text = "(a picture)"
	}
	return text, forModel, pictures
}

// nameOf is the tool of a call.
func nameOf(past []Message, id string) string {
	for _, m := range slices.Backward(past) {
		for _, c := range m.Calls {
			if c.ID == id {
				return c.Name
			}
		}
	}
	return "a tool"
}

// seed is the past of a session that is new. Calls whose results are new are
// told with those.
func seed(past, now []Message) []Message {
	out := slices.Clone(past)
	if n := len(out); n > 0 && slices.ContainsFunc(now, func(m Message) bool { return m.Role == Tool }) {
		out[n-1].Calls = nil
	}
	return out
}
