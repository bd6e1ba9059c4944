package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/handler"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/systemprompt"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// answers reports whether what a handler says of an event is told to the person.
func answers(ev event) bool {
	return ev.Type == "command" && ev.Action != "stop" || ev.Type == "session" && strings.HasPrefix(ev.Action, "compact:")
}

// answer tells the person what a handler says: where the event came from, else in
// the conversation.
func (i *inside) answer(ctx context.Context, s handler.State, ev event, r handler.Reply) error {
	text := strings.TrimSpace(strings.Join(r.Messages, "\n\n"))
	if text == "" || !answers(ev) {
		return nil
	}
	text = i.o.Inside.Redactor.Text(text)
	route := ev.route
	if route == "" && ev.Type == "session" {
		if rec, err := i.o.Sessions.Why(ev.SessionKey, ""); err == nil {
			route = rec.Route
		}
	}
	if to, ok := channel.ParseRoute(route); ok && to.Delivered() && i.o.Inside.Answers.MaySend(ev.SessionKey, to) {
		return i.o.Inside.Answers.Deliver(ctx, outbound.Delivery{
			ID: "hook:" + s.Name + ":" + uuid.New(), Channel: to.Channel, To: to.Target(""), Session: ev.SessionKey, Text: text,
			Reply: outbound.ReplyOff,
		})
	}
	_, err := i.o.Sessions.InjectNote(ctx, ev.SessionKey, session.Note{
		Label: s.Name, Text: text, ForAgent: untrusted.Wrapper{}.Wrap("the hook "+s.Name, text),
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil // the conversation is gone by now
	}
	return err
}

// More implements systemprompt.Extras. What takes too long, or fails, adds
// nothing, and is left alone for a while.
func (i *inside) More(scope tool.Scope, names []string) (out []systemprompt.Extra) {
	if !i.wanted() {
		return nil
	}
	var want []handler.State
	for _, s := range i.states() {
		if s.Runs() && s.Hears("agent", "bootstrap") && (s.Agent == "" || s.Agent == scope.AgentID) && !i.resting(s) {
			want = append(want, s)
		}
	}
	if len(want) == 0 {
		return nil
	}
	ctx, stop := context.WithTimeoutCause(i.o.Inside.Work.Context(), bootTime, handler.ErrTimeout)
	defer stop()
	files := make([]map[string]any, 0, len(names))
	for _, n := range names {
		_, err := os.Stat(path.Join(scope.Workspace, n))
		files = append(files, map[string]any{"name": n, "path": path.Join(scope.Workspace, n), "missing": err != nil})
	}
	ev := event{
		Type: "agent", Action: "bootstrap", SessionKey: scope.SessionKey, Timestamp: i.o.Now().UTC(), Messages: []string{},
		Context: map[string]any{"workspaceDir": scope.Workspace, "bootstrapFiles": files, "sessionKey": scope.SessionKey,
			"sessionId": scope.SessionID, "agentId": scope.AgentID},
		others: !scope.Owner,
	}
	for _, s := range want {
		r, err := i.call(ctx, s, ev, bootTime)
		if err != nil {
			i.rest(s)
			i.o.Log.Warn("a hook added no files to a prompt", "hook", s.Name, "err", err)
			continue
		}
		for _, f := range r.BootstrapFiles {
			out = append(out, systemprompt.Extra{Name: nameOf(f), Text: f.Content})
		}
	}
	return out
}

// nameOf is what a file is called in a prompt.
func nameOf(f handler.BootstrapFile) string {
	name := f.Path
	if name == "" || path.IsAbs(name) || !validPath(name) {
		name = f.Name
	}
	return name
}

func validPath(name string) bool {
	return path.Clean(name) == name && !strings.HasPrefix(name, "../") && !strings.ContainsAny(name, "\\\n\r")
}

func (i *inside) resting(s handler.State) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.records[s.Path()].rests.After(i.o.Now())
}

func (i *inside) rest(s handler.State) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r := i.records[s.Path()]
	r.rests = i.o.Now().Add(restAfter)
	i.records[s.Path()] = r
}

// What a module says of itself, in the forms that bundlers and people write.
var (
	exportDefault = regexp.MustCompile(`(?m)^([ \t]*)export[ \t]+default[ \t]+`)
	exportAs      = regexp.MustCompile(`(?m)^[ \t]*export[ \t]*\{[ \t]*([A-Za-z_$][\w$]*)[ \t]+as[ \t]+default[ \t]*,?[ \t]*\};?`)
	exportOther   = regexp.MustCompile(`(?m)^([ \t]*)export[ \t]+((?:async[ \t]+)?function\b|const\b|let\b|class\b)`)
	importType    = regexp.MustCompile(`(?m)^[ \t]*import[ \t]+type\b[^;\n]*;?[ \t]*$`)
)

// scriptOf makes a program of code mode of a module with a handler. One without a
// function that is exported finds hook, and returns its reply.
func scriptOf(text, export string) string {
	module := exportDefault.MatchString(text) || exportAs.MatchString(text) || export != ""
	text = importType.ReplaceAllString(text, "")
	text = exportAs.ReplaceAllString(text, "__hook.run = $1;")
	text = exportDefault.ReplaceAllString(text, "${1}__hook.run = ")
	text = exportOther.ReplaceAllString(text, "$1$2")
	if !module {
		return text
	}
	if export == "" {
		export = "__hook.run"
	}
	return "const __hook = {}; " + text + "\n" +
		"const __event = { ...JSON.parse(JSON.stringify(hook)), timestamp: new Date(hook.timestamp) };\n" +
		"const __before = (__event.context.bootstrapFiles ?? []).length;\n" +
		"await (" + export + ")(__event);\n" +
		"return { messages: __event.messages, bootstrapFiles: (__event.context.bootstrapFiles ?? []).slice(__before) };\n"
}

// languageOf is what a script is written in.
func languageOf(file string) string {
	if strings.HasSuffix(file, ".ts") {
		return codemode.TypeScript
	}
	return codemode.JavaScript
}

// script runs a handler as a program of code mode.
func (i *inside) script(ctx context.Context, s handler.State, ev event, limit time.Duration) (r handler.Reply, err error) {
	raw, err := i.eventText(ev)
	if err != nil {
		return r, err
	}
	var given map[string]any
	if err := json.Unmarshal(raw, &given); err != nil {
		return r, fmt.Errorf("write the event down: %w", err)
	}
	agent := i.o.Agents.Book().Default().ID
	key := "main"
	if ev.SessionKey != "" && ev.Type != "gateway" {
		agent, key = session.AgentOf(ev.SessionKey), ev.SessionKey
	}
	scope, err := i.o.Inside.Direct.Scope(key, agent, "hook:"+uuid.New())
	if err != nil {
		return r, err
	}
	scope.Owner = scope.Owner && !ev.others && !scope.Group
	res, err := i.o.Inside.Code.RunScript(ctx, codemode.Script{
		Scope: scope, Code: scriptOf(s.Text(), s.Export), Language: languageOf(s.File), Given: map[string]any{"hook": given},
		Limit: limit, Calls: scriptTools,
	}, func(string) bool { return false })
	if err != nil {
		return r, err
	}
	if res.Status != codemode.Completed {
		if res.Code == "timeout" {
			return r, fmt.Errorf("%w: %s", handler.ErrTimeout, res.Error)
		}
		return r, fmt.Errorf("the script failed: %s", res.Error)
	}
	return handler.ReadReply(res.Said())
}

// sent hears what becomes of deliveries.
func (i *inside) sent(d outbound.Delivery) {
	if d.State.Open() || !i.wanted() || d.Session == "" {
		return
	}
	facts := map[string]any{
		"to": d.To.Conversation, "content": d.Text, "success": d.State == outbound.Delivered, "channelId": d.Channel,
		"accountId": d.To.Account, "conversationId": d.To.Conversation,
	}
	if d.State != outbound.Delivered {
		facts["error"] = string(d.State)
		if d.Reason != "" {
			facts["error"] = d.Reason
		}
	}
	if n := len(d.Parts); n > 0 {
		facts["messageId"] = d.Parts[n-1].MessageID
	}
	i.Hear(session.Happening{Type: "message", Action: "sent", SessionKey: d.Session, Others: true, Facts: facts})
}
