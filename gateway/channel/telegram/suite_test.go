package telegram

import (
	"strconv"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

// network lets the suite play with the Bot API server.
type network struct {
	*telegramtest.Server
	said int
}

func (n *network) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		method := map[loopback.Op]string{loopback.OpSend: "sendMessage", loopback.OpEdit: "editMessageText"}[f.On]
		n.Fail(method, map[loopback.Kind]telegramtest.Fault{
			loopback.Passing: {Status: 500, Description: "Internal Server Error"},
			loopback.Limited: {Status: 429, Description: "Too Many Requests", RetryAfter: int(f.After.Seconds())},
			loopback.Refused: {Status: 400, Description: "Bad Request: message can't be edited"},
			loopback.Auth:    {Status: 401, Description: "Unauthorized"},
			loopback.Lost:    {CutAfter: true},
		}[f.Kind])
	}
}

func (n *network) Receive(in channel.Inbound) {
	id, _ := strconv.ParseInt(in.MessageID, 10, 64)
	n.said++
	n.Say(dm, ann(), in.Text, map[string]any{"message_id": id})
}

func (n *network) Taken(messageID string) bool {
	id, _ := strconv.Atoi(messageID)
	return n.said-n.Pending() >= id
}

func (n *network) Messages() (out []loopback.Message) {
	for _, m := range n.Sent(dm) {
		out = append(out, loopback.Message{ID: strconv.FormatInt(m.ID, 10), Text: m.Text})
	}
	return out
}

func TestContract(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) *channeltest.Setup {
		net := &network{Server: telegramtest.New(testToken)}
		t.Cleanup(net.Close)
		net.AddChat(telegramtest.Chat{ID: dm, Type: "private", Title: "Ann"})
		net.AddChat(telegramtest.Chat{ID: forum, Type: "supergroup", Title: "Forum", Forum: true, Topics: []int64{5}})
		ch, err := New(Options{Token: testToken, BaseURL: net.URL(), HTTP: net.Client()})
		if err != nil {
			t.Fatal(err)
		}
		return &channeltest.Setup{
			Channel: ch, Net: net, Target: target(dm), Thread: channel.Target{Conversation: number(forum), Thread: "5"},
			Inbound: channel.Inbound{Conversation: number(dm)},
			NextID:  strconv.Itoa,
		}
	})
}

func TestKind(t *testing.T) {
	channeltest.Kind(t, Kind(), channel.Account{ID: "work", Secrets: map[string]string{"botToken": testToken}},
		[]string{number(group), number(forum)}, []string{number(dm)})
}
