package loopback_test

import (
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

func setup(*testing.T) *channeltest.Setup {
	net, files := loopback.NewNet(), &channeltest.Files{}
	limits := channel.Limits{Text: 100, Unit: channel.Bytes, Edits: 8, EditWindow: time.Hour, Typing: time.Second, Files: 1 << 20,
		Reactions: true, Threads: true, Heard: true, Choices: 5, Manner: channel.Manner{Silent: true}}
	return &channeltest.Setup{
		Channel: net.Channel("loopback", "default", limits).OpenFiles(files.Open), Net: net, Files: files,
		Target:  channel.Target{Account: "default", Conversation: "c1"},
		Thread:  channel.Target{Account: "default", Conversation: "c1", Thread: "t"},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "c1", SenderID: "u1"},
	}
}

func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

// A network that refuses repeats shows a message once and gives its receipt.
func TestRepeatsAreRefused(t *testing.T) {
	net := loopback.NewNet()
	net.RefuseRepeats()
	net.Script(loopback.Fault{Kind: loopback.Lost})
	c := net.Channel("loopback", "default", channel.Limits{})
	m := channel.Message{To: channel.Target{Conversation: "c"}, Text: "x", Key: "k"}
	if _, err := c.Send(t.Context(), m); err == nil {
		t.Fatal("the confirmation was not lost")
	}
	r, err := c.Send(t.Context(), m)
	if err != nil || r.MessageID != "1" || len(net.Messages()) != 1 {
		t.Errorf("%+v, %v; %d messages", r, err, len(net.Messages()))
	}
}
