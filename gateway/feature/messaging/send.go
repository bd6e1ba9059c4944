package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/message"
)

const (
	// receiptWait is how long a tool waits for a network's receipt, and
	// receiptLook how often it looks.
	receiptWait = 10 * time.Second
	receiptLook = 100 * time.Millisecond
)

// post sends messages of the tool message.
type post struct{ o Options }

// here is where the run's own words came from.
func (p post) here(call tool.Call) (channel.Route, bool) {
	rec, err := p.o.Sessions.Why("", call.RunID)
	if err != nil {
		return channel.Route{}, false
	}
	return channel.ParseRoute(rec.Route)
}

func (p post) Find(call tool.Call, to message.To) (message.To, error) {
	here, talking := p.here(call)
	if to.Target == "" && talking && (to.Channel == "" || to.Channel == here.Channel) && (to.Account == "" || to.Account == here.Account) {
		to.Channel, to.Account, to.Target, to.Thread = here.Channel, here.Account, here.Conversation, here.Thread
	}
	var fit []channel.Channel
	for _, ch := range p.o.Networks.All() {
		if (to.Channel == "" || to.Channel == ch.ID()) && (to.Account == "" || to.Account == ch.Account()) {
			fit = append(fit, ch)
		}
	}
	if len(fit) > 1 && talking {
		same := slices.DeleteFunc(slices.Clone(fit), func(ch channel.Channel) bool {
			return ch.ID() != here.Channel ||
				ch.Account() != here.Account
		})
		if len(same) == 1 {
			fit = same
		}
	}
	switch {
	case to.Target == "":
		return to, fmt.Errorf("target is missing: the id of the chat")
	case len(fit) == 0:
		return to, fmt.Errorf("no messaging network of this name is connected%s; `hearth channels` shows them, and docs/configuration.md how "+
			"one is added", inBrackets(strings.TrimSpace(to.Channel+" "+to.Account)))
	case len(fit) > 1:
		return to, fmt.Errorf("%d accounts are connected; say which with channel and accountId", len(fit))
	}
	to.Channel, to.Account = fit[0].ID(), fit[0].Account()
	r := p.routeTo(to)
	if !p.o.Answers.MaySend(call.SessionKey, r) {
		return to, fmt.Errorf("session.sendPolicy forbids sending to %s from this session", to)
	}
	return to, nil
}

func (p post) routeTo(to message.To) channel.Route {
	r := channel.Route{Channel: to.Channel, Account: to.Account, Conversation: to.Target, Thread: to.Thread, Chat: channel.Direct}
	if p.o.Networks.Kinds.Group(to.Channel, to.Target) {
		r.Chat = channel.Group
	}
	return r
}

// Attach finds a file of the run's own workspace.
func (p post) Attach(call tool.Call, to message.To, ref string) (message.File, error) {
	m, err := p.o.Files.Named(call.Workspace, ref, to.Channel, to.Account)
	return message.File{URL: m.URL, Name: m.Name, MIME: m.MIME, Size: m.Size}, err
}

// Permit does not ask about the chat in which the owner said it.
func (p post) Permit(ctx context.Context, call tool.Call, to message.To, text string, files []message.File) error {
	if here, ok := p.here(call); ok && here.Channel == to.Channel && here.Account == to.Account && here.Conversation == to.Target &&
		here.Thread == to.Thread {
		return nil
	}
	_, err := p.o.Gate.Permit(ctx, call, askSend(call, to, text, files))
	return err
}

// askSend is bound to the recipient: a lasting yes is for whoever it is, a yes
// for once is for this call.
func askSend(call tool.Call, to message.To, text string, files []message.File) approval.Ask {
	a := approval.For(approval.KindSend, call)
	a.Tool, a.Host, a.Known, a.Lasting = "message", strings.Join([]string{to.Channel, to.Account, to.Target, to.Thread}, " "), true, true
	a.Title = "Write to " + plan.Show(to.String())
	a.Says = sentence.New("send", "to", to.String())
	a.Warnings = []string{"The assistant has no standing leave to write to this recipient. A yes for longer than once lets it write " +
		"anything to them."}
	a.Lines = []string{"To: " + plan.Show(to.String()), "Message:"}
	for _, line := range strings.Split(text, "\n") {
		a.Lines = append(a.Lines, "  "+plan.Show(line))
	}
	if len(files) > 0 {
		a.Says = sentence.New("send.file", "to", to.String())
	}
	for _, f := range files { // a yes for words is none for files
		a.Host, a.Lasting, a.Title = a.Host+" "+f.URL, false, "Send a file to "+plan.Show(to.String())
		a.Lines = append(a.Lines, fmt.Sprintf("File: %s (%d bytes)", plan.Show(f.URL), f.Size))
		a.Warnings = []string{"The file leaves this computer as it is when it is sent."}
	}
	return a
}

// Send puts the message beside the answers that are delivered: the same call
// is never sent twice.
func (p post) Send(ctx context.Context, call tool.Call, to message.To, text string, files []message.File) (message.Fate, error) {
	var media []channel.Media
	for _, f := range files {
		media = append(media, channel.Media{URL: f.URL, Name: f.Name, MIME: f.MIME, Size: f.Size})
	}
	d := outbound.Delivery{
		ID: call.RunID + ":message:" + call.ID, Channel: to.Channel, To: p.routeTo(to).Target(""), Session: call.SessionKey, RunID: call.RunID,
		Text: text, Media: media, Reply: outbound.ReplyOff,
	}
	if err := p.o.Answers.Deliver(ctx, d); err != nil {
		return message.Fate{}, err
	}
	now, err := p.arrived(ctx, d.ID, receiptWait)
	fate := message.Fate{ID: d.ID, State: string(now.State), Reason: now.Reason}
	if n := len(now.Parts); n > 0 {
		fate.MessageID = now.Parts[n-1].MessageID
	}
	if why := now.Problem(); why != "" {
		fate.State, fate.Reason = string(outbound.Failed), why+" (the recipient was told)"
	}
	return fate, err
}

// arrived is a delivery as soon as it is over, or has to be tried again, or the time is.
func (p post) arrived(ctx context.Context, id string, within time.Duration) (outbound.Delivery, error) {
	ctx, stop := context.WithTimeout(ctx, within)
	defer stop()
	look := time.NewTicker(receiptLook)
	defer look.Stop()
	for {
		now, err := p.o.Deliverer.Get(id)
		if err != nil || !now.State.Open() || now.Attempts > 0 {
			return now, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return now, nil
		}
	}
}

func inBrackets(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}
