package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound/once"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/tool/message"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Bounds of polls, as OpenClaw has them, and of what is read.
const (
	mostAnswers   = 12
	longestPoll   = 32 * 24 * time.Hour
	usualMessages = 20
	mostMessages  = 100
)

// poll is the method of that name.
func (f *feature) poll(ctx context.Context, by *server.Caller, p protocol.MessagePollParams) (out protocol.MessageDone, err error) {
	a, err := f.ask(by, protocol.MethodPoll, p.IdempotencyKey, message.To{Channel: p.Channel, Account: p.AccountID, Target: p.To,
		Thread: p.ThreadID})
	if err != nil {
		return out, err
	}
	open := time.Duration(min(max(p.DurationSeconds, 0), int64(longestPoll/time.Second))) * time.Second
	if open == 0 {
		open = time.Duration(min(max(p.DurationHours, 0), int64(longestPoll/time.Hour))) * time.Hour
	}
	can, _ := f.manner(a)
	a.ignore(map[string]bool{"silent": p.Silent && !can.Silent, "isAnonymous": p.IsAnonymous != nil && !can.Public})
	return f.act(ctx, a, message.Act{Do: message.Poll, Text: strings.TrimSpace(p.Question), Options: p.Options, Multiple: p.MaxSelections > 1,
		Open: open, Silent: p.Silent, Public: p.IsAnonymous != nil && !*p.IsAnonymous})
}

// action is the method message.action.
func (f *feature) action(ctx context.Context, by *server.Caller, p protocol.MessageActionParams) (out protocol.MessageDone, err error) {
	if p.Action == "" {
		return out, protocol.MissingParam(protocol.MethodMessageAction, "action")
	}
	with := args(p.Params)
	account := with.text("accountId")
	if account != "" && p.AccountID != "" && account != p.AccountID {
		return out, protocol.Invalid("message.action accountId does not match params.accountId")
	}
	a, err := f.ask(by, protocol.MethodMessageAction, p.IdempotencyKey, message.To{Channel: cmp.Or(p.Channel, with.text("channel")),
		Account: cmp.Or(p.AccountID, account), Target: with.text("to", "target", "channelId", "chatId"), Thread: with.text("threadId")})
	if err != nil {
		return out, err
	}
	pin, more := with.delivery()
	a.ignore(map[string]bool{"delivery": more, "interactive": with.has("interactive"), "location": with.has("location")})
	if with.is("dryRun") {
		out = a.done()
		out.DryRun = true
		return out, nil
	}
	switch p.Action {
	case "send", "reply", "thread-reply", "sendAttachment", "upload-file":
		return f.deliver(ctx, a, with.message(p), pin)
	}
	do, known := acts()[p.Action]
	if !known {
		return out, protocol.Invalid("Channel %s does not support action %s.", a.to.Channel, text.Ellipsis(p.Action, 60))
	}
	act := with.act(do)
	if do == message.Poll {
		can, _ := f.manner(a)
		a.ignore(map[string]bool{"silent": act.Silent && !can.Silent, "pollPublic": act.Public && !can.Public,
			"pollAnonymous": with.is("pollAnonymous") && !can.Public})
	}
	return f.act(ctx, a, act)
}

// acts are the actions of OpenClaw's clients that networks of ours have.
func acts() map[string]message.Action {
	return map[string]message.Action{
		"edit": message.Edit, "delete": message.Delete, "unsend": message.Delete, "react": message.React, "poll": message.Poll,
		"pin": message.Pin, "unpin": message.Unpin, "read": message.Read, "search": message.Search,
	}
}

// act does an action that is no message.
func (f *feature) act(ctx context.Context, a asked, do message.Act) (out protocol.MessageDone, err error) {
	if err := checkAct(a.method, do); err != nil {
		return out, err
	}
	ch, err := f.connected(a)
	if err != nil {
		return out, err
	}
	if do.Do == message.Read || do.Do == message.Search { // nothing changes: each time anew
		ctx, cancel := context.WithTimeout(ctx, actTime)
		defer cancel()
		out, err = f.came(ctx, ch, a, do)
		return out, f.undone(a, err)
	}
	return f.once(ctx, a, []any{a.to, do}, func(ctx context.Context) (protocol.MessageDone, error) {
		f.note(a, "did for a client: "+string(do.Do)+" at")
		return f.came(ctx, ch, a, do)
	})
}

// checkAct refuses what lacks something.
func checkAct(method string, a message.Act) error {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	all := strings.Join(append([]string{a.Text, a.Words, a.MessageID, a.Before, a.Emoji}, a.Options...), "\n")
	switch needs := a.Do != message.Poll && a.Do != message.Read && a.Do != message.Search; {
	case needs && a.MessageID == "":
		return protocol.MissingParam(method, "messageId")
	case a.Do == message.Edit && blank(a.Text):
		return protocol.MissingParam(method, "message")
	case a.Do == message.Search && blank(a.Words):
		return protocol.MissingParam(method, "query")
	case a.Do == message.Poll && (blank(a.Text) || len(a.Options) < 2 || len(a.Options) > mostAnswers ||
		slices.ContainsFunc(a.Options, blank)):
		return protocol.InvalidParams(method, "a poll has a question and 2 to %d answers", mostAnswers)
	case len(all) > mostText || len(a.MessageID) > mostName || len(a.Before) > mostName || len(a.Emoji) > mostName:
		return protocol.InvalidParams(method, "it is too long: at most %d bytes, and %d of an id or an emoji", mostText, mostName)
	}
	return nil
}

// came does it and says what came of it.
func (f *feature) came(ctx context.Context, ch channel.Channel, a asked, do message.Act) (out protocol.MessageDone, err error) {
	was, err := post{f.o}.carryOut(ctx, ch, a.to, do, a.id())
	if errors.Is(err, channel.ErrUncertain) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return out, &once.Unknown{Reason: err.Error()}
	}
	if err != nil {
		return out, err
	}
	out = a.done()
	out.MessageID = cmp.Or(was.messageID, do.MessageID)
	switch do.Do {
	case message.Edit:
		out.Edited = true
	case message.Delete:
		out.Deleted = true
	case message.React:
		out.Added, out.Removed = do.Emoji, do.Emoji == ""
	case message.Pin:
		out.Pinned = true
	case message.Unpin:
		out.Unpinned = true
	case message.Read, message.Search:
		list := pastOf(was.past)
		out.Messages, out.MessageID = &list, ""
	}
	if do.Do == message.Search {
		out.Results, out.Note = &protocol.PastResults{Messages: [][]protocol.PastMessage{}}, was.searched()
		for _, m := range *out.Messages {
			out.Results.Messages = append(out.Results.Messages, []protocol.PastMessage{m})
		}
	}
	return out, nil
}

func pastOf(all []channel.Past) []protocol.PastMessage {
	out := []protocol.PastMessage{}
	for _, m := range all {
		out = append(out, protocol.PastMessage{MessageID: m.MessageID, User: cmp.Or(m.SenderName, m.SenderID), SenderID: m.SenderID, Text: m.Text,
			Timestamp: m.At.UTC().Format(time.RFC3339)})
	}
	return out
}

// undone says why something was not done, or that nobody knows whether it was.
func (f *feature) undone(a asked, err error) error {
	var own *protocol.Error
	var cannot *cannotError
	var unknown *once.Unknown
	var limit *channel.RateLimit
	label := f.o.Networks.Kinds.Label(a.to.Channel)
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case errors.Is(err, once.ErrOther):
		return otherKey(a.method)
	case errors.As(err, &cannot):
		return protocol.Invalid("%v", cannot)
	case errors.As(err, &unknown):
		e := protocol.Unavailable(0, "nobody knows whether it was done at %s: %s. It is not done again by itself; look there", label,
			unknown.Reason)
		e.Retryable = false
		return e.With("method", a.method).With("deliveryStatus", "unknown")
	case errors.As(err, &limit):
		return protocol.Unavailable(limit.After.Milliseconds(), "%s asks to wait %v, so nothing was done. Try again then", label, limit.After)
	case errors.Is(err, channel.ErrRefused), errors.Is(err, channel.ErrAuth):
		e := protocol.Unavailable(0, "%s did not do it: %v", label, err)
		e.Retryable = false
		return e.With("method", a.method)
	}
	return protocol.Unavailable(0, "it was not done at %s: %v. Try it again", label, err).With("method", a.method)
}

// args are the parameters of an action, as programs in JavaScript write them: numbers as
// texts and texts as numbers, one value where there may be several.
type args map[string]any

// value is that of the first name that is there, also written with underscores.
func (p args) value(names ...string) any {
	for _, name := range names {
		for _, n := range []string{name, snake(name)} {
			if v, ok := p[n]; ok && v != nil && v != "" {
				return v
			}
		}
	}
	return nil
}

func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func written(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case json.Number:
		return v.String()
	}
	return ""
}

func (p args) words(names ...string) string { return written(p.value(names...)) }
func (p args) text(names ...string) string  { return strings.TrimSpace(p.words(names...)) }
func (p args) has(name string) bool         { return p.value(name) != nil && p.value(name) != false }
func (p args) is(name string) bool          { v := p.value(name); return v == true || v == "true" }

func (p args) number(names ...string) float64 {
	n, err := strconv.ParseFloat(p.text(names...), 64)
	if err != nil || math.IsNaN(n) {
		return 0
	}
	return min(max(n, 0), 1e9)
}

func (p args) list(names ...string) (out []string) {
	switch v := p.value(names...).(type) {
	case []any:
		for _, one := range v {
			out = append(out, strings.TrimSpace(written(one)))
		}
	case string:
		out = append(out, strings.TrimSpace(v))
	}
	return out
}

// delivery is whether a message is to be pinned, and whether anything else is said of its
// delivery.
func (p args) delivery() (pin, more bool) {
	how, ok := p.value("delivery").(map[string]any)
	if !ok {
		return p.is("pin"), p.has("delivery")
	}
	for name, v := range how {
		whole, _ := v.(map[string]any)
		more = more || name != "pin" || len(whole) > 1 || whole != nil && whole["enabled"] == nil
		pin = pin || name == "pin" && (v == true || whole["enabled"] == true)
	}
	return pin || p.is("pin"), more
}

// message are the parameters of send.
func (p args) message(of protocol.MessageActionParams) protocol.MessageSendParams {
	out := protocol.MessageSendParams{
		Message: p.words("message", "text", "caption"), MediaURLs: append(p.list("media", "mediaUrl", "path", "filePath", "fileUrl", "image"),
			p.list("mediaUrls")...),
		Buffer: p.words("buffer", "base64"), Filename: p.text("filename"), ContentType: p.text("contentType", "mimeType"),
		AsVoice: p.is("asVoice"), GifPlayback: p.is("gifPlayback"), ForceDocument: p.is("forceDocument") || p.is("asDocument"),
		Silent: p.is("silent"), ReplyToID: p.text("replyToId", "replyTo"), SessionKey: of.SessionKey, AgentID: of.AgentID,
		ParseMode: p.text("parseMode"),
	}
	if of.Reply != nil && out.ReplyToID == "" {
		out.ReplyToID = of.Reply.ReplyToID
	}
	if out.Message == "" {
		out.Message = p.presented()
	}
	return out
}

// presented is what a message of OpenClaw's blocks says, in plain words: their titles,
// texts and what stands on buttons.
func (p args) presented() string {
	all, ok := p.value("presentation").(map[string]any)
	if !ok {
		return ""
	}
	lines := []string{args(all).text("title")}
	blocks, _ := all["blocks"].([]any)
	for _, b := range blocks {
		block, _ := b.(map[string]any)
		lines = append(lines, cmp.Or(args(block).text("text"), args(block).text("title", "caption")))
		buttons, _ := block["buttons"].([]any)
		for _, one := range buttons {
			button, _ := one.(map[string]any)
			if label := args(button).text("label"); label != "" {
				lines = append(lines, "• "+label)
			}
		}
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// act are the parameters of another action.
func (p args) act(do message.Action) message.Act {
	a := message.Act{Do: do, MessageID: p.text("messageId"), Emoji: p.text("emoji"), Before: p.text("before"), Words: p.text("query"),
		Limit: int(p.number("limit")), Text: p.words("message", "text", "caption")}
	if a.Limit <= 0 {
		a.Limit = usualMessages
	}
	a.Limit = min(a.Limit, mostMessages)
	switch {
	case do == message.React && p.is("remove"):
		a.Emoji = ""
	case do == message.Poll:
		a.Text, a.Options, a.Multiple = p.text("pollQuestion", "question"), p.list("pollOption", "options", "answers"), p.is("pollMulti")
		a.Open = time.Duration(p.number("pollDurationSeconds") * float64(time.Second))
		if a.Open == 0 {
			a.Open = time.Duration(p.number("pollDurationHours") * float64(time.Hour))
		}
		a.Open = min(max(a.Open, 0), longestPoll)
		a.Silent, a.Public = p.is("silent"), p.is("pollPublic") || p.value("pollAnonymous") == false
	}
	return a
}
