package messaging

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"mime"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/attachment"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/sendfile"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool/message"
)

const (
	// clientWait is how long a client waits for a receipt; OpenClaw's gives up after 30 s
	// and asks again by the same key.
	clientWait = 20 * time.Second
	// mostMedia is how many files one send can have.
	mostMedia = 10
)

// send is the method of that name.
func (f *feature) send(ctx context.Context, by *server.Caller, p protocol.MessageSendParams) (out protocol.MessageDone, err error) {
	a, err := f.ask(by, protocol.MethodSend, p.IdempotencyKey, message.To{Channel: p.Channel, Account: p.AccountID, Target: p.To,
		Thread: p.ThreadID})
	if err != nil {
		return out, err
	}
	return f.deliver(ctx, a, p, false)
}

// deliver puts a message beside the answers that are delivered, and waits a moment for its
// receipt. The delivery is the key's: one that is there is told of, and not sent again.
func (f *feature) deliver(
	ctx context.Context, a asked, p protocol.MessageSendParams, pin bool,
) (out protocol.MessageDone, err error) {
	if p.ParseMode != "" {
		return out, protocol.InvalidParams(a.method, "parseMode %s cannot be sent: Hearth takes Markdown, and shows it as the network can",
			p.ParseMode)
	}
	d := outbound.Delivery{ID: a.id(), Channel: a.to.Channel, Text: p.Message, Reply: outbound.ReplyOff,
		To: post{f.o}.routeTo(a.to).Target(""), Pin: pin,
		Manner: channel.Manner{Silent: p.Silent, Document: p.ForceDocument, Voice: p.AsVoice, Animation: p.GifPlayback}}
	if strings.TrimSpace(p.Message) == "" {
		d.Text = ""
	}
	if d.To.ReplyTo = strings.TrimSpace(p.ReplyToID); d.To.ReplyTo != "" {
		d.Reply = outbound.ReplyFirst
	}
	files, err := f.filesOf(a, p)
	if err != nil {
		return out, err
	}
	if len(d.Text) > mostText || len(d.To.ReplyTo) > mostName {
		return out, protocol.InvalidParams(a.method, "the message has %d bytes, at most %d are sent at once", len(d.Text), mostText)
	}
	if d.Text == "" && len(files) == 0 {
		return out, protocol.Invalid("invalid %s params: text or media is required", a.method)
	}
	can, pins := f.manner(a)
	a.ignore(map[string]bool{"asVoice": p.AsVoice && !can.Voice, "gifPlayback": p.GifPlayback && !can.Animation,
		"forceDocument": p.ForceDocument && !can.Document, "silent": p.Silent && !can.Silent, "pin": pin && !pins})
	d.Pin = d.Pin && pins
	if _, err := f.o.Deliverer.Get(d.ID); errors.Is(err, outbound.ErrNoDelivery) { // else its files may be gone by now
		if d.Media, err = f.attach(a, files); err != nil {
			return out, err
		}
		first, err := f.accept(ctx, p, d)
		if err != nil {
			return out, err
		}
		if first {
			f.note(a, "sent for a client to")
		}
	}
	now, err := post{f.o}.arrived(ctx, d.ID, clientWait)
	if err != nil {
		return out, err
	}
	if !sameMessage(now, d, files) {
		return out, otherKey(a.method)
	}
	return f.sent(a, now)
}

// sameMessage reports whether a delivery is of what was asked for.
func sameMessage(now, d outbound.Delivery, files []handed) bool {
	return now.Channel == d.Channel && now.To == d.To && now.Text == d.Text && now.Manner == d.Manner && now.Pin == d.Pin &&
		slices.EqualFunc(now.Media, files,
			func(m channel.Media, h handed) bool { return strings.HasSuffix(filepath.ToSlash(m.URL), h.end()) })
}

func otherKey(method string) error {
	return protocol.Invalid("this idempotencyKey of %s was used for something else before, so nothing was done. Take a new one for something "+
		"new", method).With("reason", "idempotency-key-conflict")
}

// accept makes a delivery durable; first: it was not there. With a session it is noted
// there in the same transaction.
func (f *feature) accept(ctx context.Context, p protocol.MessageSendParams, d outbound.Delivery) (first bool, err error) {
	put := func(tx *store.Tx) error {
		if first = !f.o.Deliverer.Has(tx, d.ID); !first {
			return errThere
		}
		return f.o.Deliverer.Put(tx, d)
	}
	if p.SessionKey == "" {
		err = f.o.Store.Update(ctx, store.Write{Do: put, Then: f.o.Deliverer.Wake})
	} else {
		var key string
		if key, err = f.o.Agents.Canonical(p.SessionKey, p.AgentID); err != nil {
			return false, protocol.Invalid("%v; nothing was sent", err)
		}
		d.Session = key
		_, err = f.o.Sessions.InjectNote(ctx, key, session.Note{Text: noted(d), With: put,
			Label: "Sent to " + f.o.Networks.Kinds.Label(d.Channel) + " " + d.To.Conversation})
		f.o.Deliverer.Wake()
	}
	if errors.Is(err, errThere) {
		err = nil
	}
	return first, err
}

// errThere leaves a transaction without a change.
var errThere = errors.New("it is there")

// noted is what a conversation says of a message that was sent.
func noted(d outbound.Delivery) string {
	words := d.Text
	for _, m := range d.Media {
		words = strings.TrimSpace(words + "\n(file: " + cmp.Or(m.Name, m.URL) + ")")
	}
	return words
}

// handed is a file of a message, as a client named it or handed it in.
type handed struct {
	workspace string
	ref       string // an address or a file; "": data
	data      []byte
	name      string
	kind      string
}

// end is how the place ends that it is sent from.
func (h handed) end() string {
	if h.ref == "" {
		return sendfile.KeptAt(h.name, h.data)
	}
	if strings.Contains(h.ref, "://") {
		return h.ref[strings.LastIndex(h.ref, "/"):]
	}
	return path.Base(filepath.ToSlash(h.ref))
}

// filesOf are the files of a message, which nobody has looked at yet.
func (f *feature) filesOf(a asked, p protocol.MessageSendParams) (out []handed, err error) {
	agent := f.o.Agents.Book().Default()
	if p.AgentID != "" {
		var ok bool
		if agent, ok = f.o.Agents.Book().Get(p.AgentID); !ok {
			return nil, protocol.InvalidParams(a.method, "there is no agent %q", p.AgentID)
		}
	}
	for _, ref := range append([]string{p.MediaURL}, p.MediaURLs...) {
		there := func(h handed) bool { return h.ref == ref }
		if ref = strings.TrimSpace(ref); ref == "" || slices.ContainsFunc(out, there) || strings.HasPrefix(ref, "buffer:") {
			continue // that is OpenClaw's name for what Buffer holds
		}
		out = append(out, handed{workspace: agent.Workspace, ref: ref})
	}
	if len(out) > mostMedia {
		return nil, protocol.InvalidParams(a.method, "%d files are more than the %d that one message can have", len(out), mostMedia)
	}
	if p.Buffer == "" {
		return out, nil
	}
	raw, kind := strings.TrimSpace(p.Buffer), p.ContentType
	if head, rest, ok := strings.Cut(raw, ","); ok && strings.HasPrefix(head, "data:") {
		raw, kind = rest, cmp.Or(kind, strings.TrimSuffix(strings.TrimPrefix(head, "data:"), ";base64"))
	}
	data, err := base64.StdEncoding.DecodeString(raw)
	if err != nil {
		return nil, protocol.InvalidParams(a.method, "buffer is no base64: %v", err)
	}
	kind, _, _ = mime.ParseMediaType(kind)
	return append(out, handed{agent.Workspace, "", data, attachment.Name(cmp.Or(p.Filename, "file"), kind), kind}), nil
}

// attach finds the files, and keeps those that came with the request where they are sent
// from, also after a restart.
func (f *feature) attach(a asked, files []handed) (media []channel.Media, err error) {
	for _, h := range files {
		var m channel.Media
		if h.ref == "" {
			m, err = f.o.Files.Keep(h.workspace, h.name, h.data, a.to.Channel, a.to.Account)
			m.MIME = cmp.Or(m.MIME, h.kind)
		} else {
			m, err = f.o.Files.Named(h.workspace, h.ref, a.to.Channel, a.to.Account)
		}
		if err != nil {
			return nil, protocol.Invalid("%s was not sent: %v. A file has to be in the workspace (%s), or handed in as buffer",
				cmp.Or(h.ref, h.name), err, h.workspace)
		}
		media = append(media, m)
	}
	return media, nil
}

// sent is what came of a delivery.
func (f *feature) sent(a asked, now outbound.Delivery) (out protocol.MessageDone, err error) {
	out = a.done()
	for _, part := range now.Parts {
		if part.MessageID != "" {
			out.MessageIDs, out.MessageID = append(out.MessageIDs, part.MessageID), part.MessageID
		}
	}
	label := f.o.Networks.Kinds.Label(now.Channel)
	failed := func(format string, args ...any) *protocol.Error {
		e := protocol.Unavailable(0, format, args...)
		e.Retryable = false
		e = e.With("method", a.method).With("deliveryId", now.ID).With("deliveryStatus", string(now.State))
		if len(out.MessageIDs) > 0 {
			e = e.With("partialDelivery", map[string]any{"messageIds": out.MessageIDs, "visibleReplySent": true})
		}
		return e
	}
	switch why := now.Problem(); {
	case why != "":
		return out, failed("the message is at %s, but a file of it is not: %s. Whoever reads it was told", label, why)
	case now.State == outbound.Delivered:
		if out.Pinned = now.Pinned && now.Unpinned == ""; now.Unpinned != "" {
			out.Note = "it has arrived, and is not pinned: " + now.Unpinned
		}
		return out, nil
	case now.State == outbound.Failed:
		return out, failed("%s did not take it: %s. `hearth deliveries` has it, and can send it again when that is mended", label, now.Reason)
	case now.State == outbound.Uncertain:
		return out, failed("nobody knows whether it arrived at %s: %s. It is not sent again by itself; look there, then "+
			"`hearth deliveries` takes it for arrived or sends it again", label, now.Reason)
	}
	return out, failed("it is on its way to %s, and tried until it arrives%s. Do not send it again; `hearth deliveries` shows how far it is",
		label, soFar(now.Reason)).With("code", "OUTBOUND_DELIVERY_QUEUED")
}

func soFar(reason string) string {
	if reason == "" {
		return ""
	}
	return " (so far: " + reason + ")"
}
