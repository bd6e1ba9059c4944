package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/webhook"
)

const (
	kindAgent = "agent"
	kindWake  = "wake"

	now           = "now"
	nextHeartbeat = "next-heartbeat"

	isolated   = "isolated"
	persistent = "persistent"
)

// maxItems is how many items of a list one call may have.
const maxItems = 200

// action is one thing that a call asks for.
type action struct {
	kind, hook, label string
	own, body         string // the owner's words of the settings, and those that were sent
	agent             string
	key               string // as asked for, "" for none
	foreign           bool   // the caller had a say in the key
	mode              string // isolated, persistent
	wakeMode          string
	deliver           bool
	channel, to       string
	account           string
	model, thinking   string
	timeoutMs         int64

	session string // canonical, without what makes it the run's own
	route   string
}

// plan is all that one call asks for.
type plan struct {
	actions   []action
	wait      bool
	batch     bool // of a list: each item is known by what it says
	dropped   int
	perMinute int
}

func (f *feature) plan(_ context.Context, h Configured, in incoming) (p plan, err error) {
	body, _ := in.payload.(map[string]any)
	switch in.name {
	case kindWake:
		var a action
		a, err = wakeOf(given(in, body))
		p.actions = []action{a}
	case kindAgent:
		var a action
		body = given(in, body)
		if a, err = agentOf(body); err == nil {
			p.wait, err = flag(body, "waitForCompletion", false)
		}
		p.actions = []action{a}
	default:
		p, err = mapped(h, in, body)
	}
	if err != nil {
		return p, err
	}
	direct := in.name == kindWake || in.name == kindAgent
	for i := range p.actions {
		p.actions[i].hook = in.name
		if err := f.resolve(h, &p.actions[i], direct); err != nil {
			return p, err
		}
	}
	return p, nil
}

func text(body map[string]any, name string) string {
	s, _ := body[name].(string)
	return strings.TrimSpace(s)
}

func flag(body map[string]any, name string, other bool) (bool, error) {
	switch v := body[name].(type) {
	case nil:
		return other, nil
	case bool:
		return v, nil
	}
	return other, bad(name + " must be boolean: true or false")
}

// given is what a direct call sent. A form has texts only, whatever they mean.
func given(in incoming, body map[string]any) map[string]any {
	if !in.form {
		return body
	}
	body = maps.Clone(body)
	for _, name := range []string{"deliver", "waitForCompletion"} {
		switch body[name] {
		case "true", "yes", "on", "1":
			body[name] = true
		case "false", "no", "off", "0":
			body[name] = false
		}
	}
	if s, ok := body["timeoutSeconds"].(string); ok {
		body["timeoutSeconds"] = json.Number(s)
	}
	return body
}

// texts refuses fields that are there and are no texts.
func texts(body map[string]any, names ...string) error {
	for _, name := range names {
		switch body[name].(type) {
		case nil, string:
		default:
			return bad(name + " must be a text in quotation marks")
		}
	}
	return nil
}

func wakeOf(body map[string]any) (action, error) {
	if err := texts(body, "text", "mode", "agentId", "sessionKey", "idempotencyKey"); err != nil {
		return action{}, err
	}
	a := action{
		kind: kindWake, label: "wake", body: text(body, "text"), agent: text(body, "agentId"), key: text(body, "sessionKey"), foreign: true,
		mode: persistent, wakeMode: now,
	}
	a.wakeMode = cmp.Or(text(body, "mode"), now)
	switch {
	case a.body == "":
		return a, bad("text required")
	case a.wakeMode != now && a.wakeMode != nextHeartbeat:
		return a, bad("mode must be " + now + " or " + nextHeartbeat)
	case body["agentId"] != nil && a.agent == "":
		return a, bad("agentId must be a non-empty string")
	case body["sessionKey"] != nil && a.key == "":
		return a, bad("sessionKey must be a non-empty string")
	case a.wakeMode == nextHeartbeat && a.key != "":
		return a, bad("sessionKey requires mode=now")
	}
	return a, nil
}

func agentOf(body map[string]any) (action, error) {
	err := texts(body, "message", "name", "agentId", "sessionKey", "channel", "to", "accountId", "model", "thinking", "idempotencyKey")
	if err != nil {
		return action{}, err
	}
	a := action{
		kind: kindAgent, label: cmp.Or(text(body, "name"), "Hook"), body: text(body, "message"), agent: text(body, "agentId"),
		key:     text(body, "sessionKey"),
		foreign: true, mode: isolated, wakeMode: now, channel: text(body, "channel"), to: text(body, "to"),
		account: text(body, "accountId"), model: text(body, "model"),
	}
	if body["sessionMode"] != nil {
		a.mode, _ = body["sessionMode"].(string)
	}
	switch {
	case a.body == "":
		return a, bad("message required")
	case body["agentId"] != nil && a.agent == "":
		return a, bad("agentId must be a non-empty string")
	case a.mode != isolated && a.mode != persistent:
		return a, bad("sessionMode must be isolated or persistent")
	case a.mode == persistent && a.key == "":
		return a, bad("sessionKey is required when sessionMode is persistent")
	case body["model"] != nil && a.model == "":
		return a, bad("model required")
	}
	if a.deliver, err = flag(body, "deliver", true); err != nil {
		return a, err
	}
	if a.thinking, err = level(text(body, "thinking")); err != nil {
		return a, err
	}
	if a.timeoutMs, err = seconds(body["timeoutSeconds"]); err != nil {
		return a, err
	}
	return a, a.destination(body)
}

// destination is where a direct call wants its answer: both parts, or none.
func (a *action) destination(body map[string]any) error {
	if !a.deliver {
		a.channel, a.to, a.account = "", "", ""
		return nil
	}
	switch {
	case body["channel"] == nil && body["to"] == nil && body["accountId"] == nil:
		return nil
	case body["accountId"] != nil && (a.channel == "" || a.to == ""):
		return bad("accountId requires channel and to for hook delivery")
	case a.channel == "" || a.to == "":
		return bad("channel and to must be set together for hook delivery")
	case a.channel == "last":
		return bad("channel must name a concrete channel for hook delivery")
	}
	return nil
}

// seconds as JSON has them, in milliseconds; 0 is nothing, and a day is the most.
func seconds(v any) (int64, error) {
	if v == nil {
		return 0, nil
	}
	if n, ok := v.(json.Number); ok {
		if s, err := n.Float64(); err == nil && (s == 0 || s >= 1) {
			return int64(math.Floor(min(s, 86_400))) * 1000, nil
		}
	}
	return 0, bad("timeoutSeconds must be a number of seconds from 1 to 86400, or 0 for the usual time")
}

// level is a level of thinking. OpenClaw has more of them, which are taken for the next
// one here.
func level(s string) (string, error) {
	s = strings.ToLower(s)
	switch levels := command.Levels("think"); {
	case s == "", slices.Contains(levels, s):
		return s, nil
	case s == "minimal":
		return "low", nil
	case s == "xhigh", s == "max":
		return "high", nil
	case s == "adaptive":
		return "", nil
	default:
		return "", bad("thinking must be one of " + strings.Join(levels, ", "))
	}
}

// mapped is what the first mapping makes of a call.
func mapped(h Configured, in incoming, body map[string]any) (plan, error) {
	for i, m := range append(slices.Clone(h.Mappings), presets(h.Presets)...) {
		if m.Match.Path != "" && m.Match.Path != in.name || m.Match.Source != "" && body["source"] != m.Match.Source {
			continue
		}
		// A signature proves the service of its own mapping and no other.
		if signed := m.Signature.given(); signed != (in.event != "") || signed && in.by != secretPath(i) {
			continue
		}
		p := plan{perMinute: m.PerMinute, batch: m.ForEach != ""}
		if m.ForEach == "" {
			a, err := fromMapping(m, in.req)
			p.actions = []action{a}
			return p, err
		}
		items, err := listOf(body, m.ForEach)
		if err != nil {
			return p, err
		}
		p.dropped = max(0, len(items)-maxItems)
		for _, item := range items[:min(len(items), maxItems)] {
			one := make(map[string]any, len(body))
			for k, v := range body {
				one[k] = v
			}
			one[m.ForEach] = []any{item}
			req := in.req
			req.Payload = one
			a, err := fromMapping(m, req)
			if err != nil {
				return p, err
			}
			p.actions = append(p.actions, a)
		}
		return p, nil
	}
	return plan{}, &refusal{status: http.StatusNotFound, text: "There is no hook of this name. " +
		"`hearth config get hooks.mappings` shows those that were made."}
}

// listOf is the list of which each item becomes a message. Programs write one without
// items also as null.
func listOf(body map[string]any, name string) ([]any, error) {
	v, ok := body[name]
	if items, is := v.([]any); is || ok && v == nil {
		return items, nil
	}
	why := "nothing of that name was sent"
	if ok {
		why = "what was sent there is something else"
	}
	return nil, bad(fmt.Sprintf("There is no list at %q, of which forEach of the mapping makes a message each: %s. Send a list there, "+
		"or correct forEach.", name, why))
}

func fromMapping(m Mapping, req webhook.Request) (action, error) {
	show := func(t string) string { return strings.TrimSpace(webhook.Render(t, req)) }
	thinking, err := level(show(m.Thinking))
	if err != nil && webhook.Templated(m.Thinking) { // of one in the settings Hearth says so there
		return action{}, err
	}
	a := action{
		kind: m.Action, label: cmp.Or(show(m.Name), m.ID, m.Match.Path, "Hook"), agent: m.AgentID, key: show(m.SessionKey),
		foreign: webhook.Templated(m.SessionKey),
		mode:    m.SessionMode, wakeMode: m.WakeMode, deliver: m.Deliver, model: show(m.Model), thinking: thinking,
		timeoutMs: int64(m.TimeoutSeconds) * 1000,
	}
	template := m.MessageTemplate
	if m.Action == kindWake {
		template, a.mode = m.TextTemplate, persistent
	}
	if m.Deliver && m.Channel != "" && m.Channel != "last" {
		a.channel, a.to, a.account = m.Channel, show(m.To), m.AccountID
	}
	own, rest := webhook.Own(template)
	a.own, a.body = strings.TrimSpace(own), show(rest)
	switch {
	case webhook.Templated(m.SessionKey) && a.key == "":
		return a, bad("hook mapping sessionKey template rendered empty")
	case a.own == "" && a.body == "" && m.Action == kindWake:
		return a, bad("hook mapping requires text")
	case a.own == "" && a.body == "":
		return a, bad("hook mapping requires message")
	case a.channel != "" && a.to == "":
		return a, bad("hook mapping has a channel and no recipient")
	}
	return a, nil
}

// presets are the mappings that come with Hearth.
func presets(names []string) (out []Mapping) {
	if slices.Contains(names, "gmail") {
		out = append(out, Mapping{
			ID: "gmail", Match: Match{Path: "gmail"}, Action: kindAgent, WakeMode: now, SessionMode: isolated, Deliver: true,
			Name:    "Gmail",
			ForEach: "messages", SessionKey: "hook:gmail:{{messages[0].id}}",
			MessageTemplate: "New email from {{messages[0].from}}\nSubject: {{messages[0].subject}}\n{{messages[0].snippet}}\n{{messages[0].body}}",
		})
	}
	return out
}

// resolve finds the agent, the session and the destination, and holds them against
// what hooks may.
func (f *feature) resolve(h Configured, a *action, direct bool) error {
	book := f.o.Agents.Book()
	agent, ok := book.Get(cmp.Or(a.agent, book.Default().ID))
	switch {
	case !ok && direct:
		return bad(fmt.Sprintf("unknown agentId %q", a.agent))
	case !ok:
		agent = book.Default()
	}
	a.agent = agent.ID
	if h.AllowedAgentIDs != nil && !slices.Contains(h.AllowedAgentIDs, "*") && !slices.Contains(h.AllowedAgentIDs, a.agent) {
		return bad("agentId is not allowed by hooks.allowedAgentIds")
	}
	if err := f.sessionOf(h, a); err != nil {
		return err
	}
	if a.model != "" {
		name, err := f.o.Models.ForAssistant(a.model)
		if err != nil {
			return bad(err.Error())
		}
		a.model = name
	}
	if len(a.own)+len(a.body) > protocol.MaxMessageText {
		return bad("message is too long")
	}
	if a.channel == "" {
		return nil
	}
	a.account = cmp.Or(a.account, "default")
	if f.o.Networks.Find(a.channel, a.account) == nil {
		return bad(fmt.Sprintf("there is no account %q of %q", a.account, a.channel))
	}
	if strings.ContainsFunc(a.to, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return bad("to must be a plain text")
	}
	a.route = channel.Route{Channel: a.channel, Account: a.account, Conversation: a.to, Chat: channel.Direct}.String()
	return nil
}

// sessionOf is the conversation of an action.
func (f *feature) sessionOf(h Configured, a *action) error {
	if a.kind == kindWake && a.key == "" {
		a.session = rules.Main(f.o.Settings, a.agent)
		return nil
	}
	key := a.key
	if key != "" && a.foreign && !h.AllowRequestSessionKey {
		return bad("sessionKey is disabled for externally supplied hook payload values; set hooks.allowRequestSessionKey=true to enable")
	}
	if key == "" {
		key = h.DefaultSessionKey
	}
	if key == "" {
		return nil // one of its own
	}
	if rest, ok := strings.CutPrefix(key, "agent:"); ok {
		_, rest, _ = strings.Cut(rest, ":")
		if h.AllowedSessionKeyPrefixes != nil && !hasPrefixFold(key, h.AllowedSessionKeyPrefixes) {
			return bad("sessionKey must start with one of: " + strings.Join(h.AllowedSessionKeyPrefixes, ", "))
		}
		key = "agent:" + a.agent + ":" + rest
	}
	if len(h.AllowedSessionKeyPrefixes) > 0 && !hasPrefixFold(key, h.AllowedSessionKeyPrefixes) {
		return bad("sessionKey must start with one of: " + strings.Join(h.AllowedSessionKeyPrefixes, ", "))
	}
	canonical, err := session.Canonical(key, a.agent)
	if err != nil || len(canonical) > 400 {
		return bad("sessionKey is not one that a session can have")
	}
	a.session = canonical
	return nil
}
