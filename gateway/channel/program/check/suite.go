package check

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/conformance"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

// Names on every test network.
const (
	person = "ada"
	group  = "#room"
	thread = "thread"
)

// setup is the program as a channel, with the network that it offers.
func setup(t *trial, o Options) *conformance.Setup {
	files := &conformance.Files{}
	b, err := program.New(program.Options{
		Network: "program", Argv: o.Argv, Limits: channel.Limits{Text: 2000}, Test: true,
		Account: channel.Account{ID: "check", Texts: o.Settings, Secrets: o.Secrets, MaxFile: 1 << 20, OpenFile: files.OpenLocal,
			Durable: &kept{}, Launch: o.Launch, Now: o.Now, Logger: o.Logger},
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &conformance.Setup{
		Channel: b, Net: &network{t: t, b: b, wait: o.Wait}, Files: files, Connected: true, Waits: o.Wait,
		Target:  channel.Target{Account: "check", Conversation: person},
		Thread:  channel.Target{Account: "check", Conversation: group, Thread: thread},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: person, SenderID: person, SenderName: person},
		Cannot: map[string]string{"RunAgain": "its network is in its memory, and ends with it",
			"NothingIsLostBetween": "its network is in its memory, and ends with it"},
	}
}

// network is the one in the program's memory. It implements conformance.Network.
type network struct {
	t    *trial
	b    *program.Bridge
	wait time.Duration
}

func (n *network) ask(method string, params, result any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.t.ctx), n.wait)
	defer cancel()
	// Before it runs there is no network, and nothing on it.
	if n.b.Status().State == channel.Stopped {
		return
	}
	if err := n.b.Ask(ctx, method, params, result); err != nil {
		n.t.Errorf("its test network does not answer %s: %v", method, err)
	}
}

func (n *network) Script(faults ...loopback.Fault) {
	var p wire.TestFaults
	for _, f := range faults {
		p.Faults = append(p.Faults, wire.FaultOf(f))
	}
	n.ask(wire.TestScript, p, nil)
}

func (n *network) Receive(in channel.Inbound) {
	n.ask(wire.TestReceive, wire.TestArrived{InboundParams: wire.InboundOf(in)}, nil)
}

// ReceiveFile implements conformance.FileNetwork.
func (n *network) ReceiveFile(in channel.Inbound, f loopback.File) {
	p := wire.TestArrived{InboundParams: wire.InboundOf(in), Files: []wire.TestFile{{Name: f.Name, MIME: f.MIME, Blob: f.Content}}}
	n.ask(wire.TestReceive, p, nil)
}

func (n *network) Taken(messageID string) bool {
	var r wire.TestTakenResult
	n.ask(wire.TestTaken, wire.MessageParams{MessageID: messageID}, &r)
	return r.Taken
}

func (n *network) Messages() (out []loopback.Message) {
	var r wire.TestSeen
	n.ask(wire.TestMessages, struct{}{}, &r)
	for _, m := range r.Messages {
		out = append(out, m.Loopback())
	}
	return out
}
