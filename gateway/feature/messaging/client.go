package messaging

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/tool/message"
)

// What clients have done on messaging networks (send, poll, message.action): the act of
// whoever uses the client, so that nobody is asked about it. It goes out by the same ways
// as the assistant's own.

// Bounds of what a client asks for.
const (
	mostText = 64 << 10
	mostName = 256 // bytes of an id, or a key
)

// asked is who asked for what.
type asked struct {
	method, key string
	by          *server.Caller
	to          message.To
	ignored     []string
}

// id names it: the same for the same key, after a restart too.
func (a asked) id() string {
	sum := sha256.Sum256([]byte(a.method + "\x00" + a.key))
	return "client:" + base64.RawURLEncoding.EncodeToString(sum[:])[:32]
}

// ask judges the key and finds the recipient.
func (f *feature) ask(by *server.Caller, method, key string, to message.To) (a asked, err error) {
	a = asked{method: method, key: key, by: by}
	if key == "" {
		return a, protocol.MissingParam(method, "idempotencyKey")
	}
	if len(key) > mostName {
		return a, protocol.InvalidParams(method, "idempotencyKey has %d bytes, at most %d are allowed", len(key), mostName)
	}
	a.to, err = f.recipient(method, to)
	return a, err
}

// done is the beginning of an answer.
func (a asked) done() protocol.MessageDone {
	return protocol.MessageDone{OK: true, RunID: a.key, Channel: a.to.Channel, AccountID: a.to.Account, ChatID: a.to.Target,
		Ignored: a.ignored}
}

// ignore notes parameters that were given and change nothing.
func (a *asked) ignore(given map[string]bool) {
	for name, is := range given {
		if is {
			a.ignored = append(a.ignored, name)
		}
	}
	slices.Sort(a.ignored)
}

// manner are the wishes that an account's network fulfils, and whether it pins. One that is
// not connected says nothing yet, and is taken to fulfil all.
func (f *feature) manner(a asked) (can channel.Manner, pins bool) {
	ch := f.o.Networks.Find(a.to.Channel, a.to.Account)
	if ch == nil {
		return channel.Manner{Silent: true, Document: true, Voice: true, Animation: true, Public: true}, true
	}
	_, pins = channel.AsPinner(ch)
	return ch.Limits().Manner, pins
}

// note writes down who had it done.
func (f *feature) note(a asked, what string) {
	f.o.Audit.Add(audit.Entry{Kind: audit.KindSend, What: what + " " + a.to.String(), Who: method.CallerName(a.by),
		Facts: map[string]string{"method": a.method, "id": a.id()}})
}

// recipient finds the account that is meant, and reads the target as OpenClaw's clients
// write it: with the network before it, and what kind of place it is.
func (f *feature) recipient(method string, to message.To) (message.To, error) {
	to.Channel = strings.ToLower(strings.TrimSpace(to.Channel))
	to.Target, to.Account, to.Thread = strings.TrimSpace(to.Target), strings.TrimSpace(to.Account), strings.TrimSpace(to.Thread)
	if to.Target == "" {
		return to, protocol.MissingParam(method, "to")
	}
	for _, part := range []string{to.Channel, to.Account, to.Target, to.Thread} {
		if len(part) > mostName || !utf8.ValidString(part) || strings.ContainsFunc(part, unicode.IsControl) {
			return to, protocol.InvalidParams(method, "a channel, an account or the id of a chat has at most %d bytes, on one line", mostName)
		}
	}
	if network, rest, ok := strings.Cut(to.Target, ":"); ok && rest != "" {
		_, known := f.o.Networks.Kinds.Get(strings.ToLower(network))
		if network = strings.ToLower(network); known && (to.Channel == "" || to.Channel == network) {
			to.Channel, to.Target = network, rest
		}
	}
	if err := f.account(&to); err != nil {
		return to, err
	}
	k, _ := f.o.Networks.Kinds.Get(to.Channel)
	conversation, thread := k.Place(to.Target)
	if thread != "" && to.Thread != "" && thread != to.Thread {
		return to, protocol.InvalidParams(method, "the target names the thread %s, and threadId %s", thread, to.Thread)
	}
	to.Target, to.Thread = conversation, cmp.Or(to.Thread, thread)
	return to, nil
}

// account finds which one is meant: that of the name, or default, or the only one.
func (f *feature) account(to *message.To) error {
	if _, known := f.o.Networks.Kinds.Get(to.Channel); to.Channel != "" && !known {
		return protocol.Invalid("unsupported channel: %s. `hearth channels` shows those that there are", to.Channel)
	}
	var fit []hub.AccountStatus
	for _, a := range f.o.Networks.Status() {
		if (to.Channel == "" || a.Network == to.Channel) && (to.Account == "" || a.AccountID == to.Account) {
			fit = append(fit, a)
		}
	}
	on := slices.DeleteFunc(slices.Clone(fit), func(a hub.AccountStatus) bool { return !a.Enabled })
	if to.Channel != "" && to.Account == "" && len(on) > 1 {
		if i := slices.IndexFunc(on, func(a hub.AccountStatus) bool { return a.AccountID == "default" }); i >= 0 {
			on = on[i : i+1]
		}
	}
	name := inBrackets(strings.TrimSpace(to.Channel + " " + to.Account))
	switch {
	case len(fit) == 0:
		return protocol.Invalid("there is no account on a messaging network%s: nothing was sent. `hearth channels` shows those that there are, "+
			"`hearth channels add` sets one up", name)
	case len(on) == 0:
		return protocol.Invalid("the account is switched off%s: nothing was sent. `hearth channels start %s` switches it on", name,
			fit[0].Network)
	case len(on) > 1:
		return protocol.Invalid("%d accounts are in use, so say which with channel and accountId; nothing was sent", len(on))
	}
	to.Channel, to.Account = on[0].Network, on[0].AccountID
	return nil
}

// once does what is no message, at most once for a key.
func (f *feature) once(
	ctx context.Context, a asked, request any, do func(context.Context) (protocol.MessageDone, error),
) (out protocol.MessageDone, err error) {
	wants, err := json.Marshal(request)
	if err != nil {
		return out, err
	}
	sum := sha256.Sum256(wants)
	raw, err := f.acts.Do(ctx, a.id(), base64.RawURLEncoding.EncodeToString(sum[:]), func() (json.RawMessage, error) {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTime)
		defer cancel()
		out, err := do(within)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	})
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, f.undone(a, err)
}

// connected is the channel of the account, which an action needs at once.
func (f *feature) connected(a asked) (channel.Channel, error) {
	ch := f.o.Networks.Find(a.to.Channel, a.to.Account)
	if ch == nil {
		return nil, protocol.Unavailable(0, "%s (%s) is not connected, so nothing was done. `hearth channels` says why; try again then",
			f.o.Networks.Kinds.Label(a.to.Channel), a.to.Account)
	}
	return ch, nil
}
