package inbound

import (
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// desk says that every button means what it is called.
type desk struct {
	mu    sync.Mutex
	took  int
	taken []string
	told  []string
}

func (d *desk) Look(in channel.Inbound, owner bool) (says, word string, err error) {
	if in.Press.Data == "owner" && !owner {
		return "", "for the owner", nil
	}
	return "/" + in.Press.Data, "", nil
}

func (d *desk) Take(*store.Tx, channel.Inbound, bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.took++
	return nil
}

func (d *desk) Taken(in channel.Inbound) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken = append(d.taken, in.Press.ID)
}

func (d *desk) Tell(_ channel.Inbound, word string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, word)
}

func press(in channel.Inbound, id, data string) channel.Inbound {
	in.MessageID, in.Text, in.Press = id, "/forged words", channel.Press{ID: id, Data: data, MessageID: "7"}
	return in
}

func reaction(in channel.Inbound, id, emoji string) channel.Inbound {
	in.MessageID, in.Text = id, "/forged words"
	in.Reaction = channel.Reaction{MessageID: "7", Emoji: emoji, Ours: true}
	return in
}

// Presses of buttons and emoji on messages go the way of messages: whoever may not
// write does nothing by them either, in direct chats and in groups.
func TestSec_A_PAIR_19_PressesAndReactions(t *testing.T) {
	for name, p := range map[string]Policy{
		"paired only": {}, "allowlist": {DM: DMAllowlist, AllowFrom: []string{"7"}, Group: GroupAllowlist},
		"nobody":        {DM: DMDisabled, Group: GroupDisabled},
		"listed people": {DM: DMAllowlist, Group: GroupOpen, GroupAllowFrom: []string{"7"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{}
			inBubble(t, func(h *house) { h.policy = p; h.Questions = d }, func(t *testing.T, h *house) {
				for i, in := range []channel.Inbound{dm("", ""), group("", "", true), group("", "", false)} {
					id := string(rune('a' + i))
					h.receive(press(in, "p"+id, "yes"))
					h.receive(reaction(in, "r"+id, "👍"))
				}
				pass(5e9)
				h.want("")
				if d.took != 0 || len(d.taken) != 0 || h.kept() != 0 || len(d.told) != 3 {
					t.Errorf("%d were taken, %d kept, told %q (rules: %s)", d.took, h.kept(), d.told, h.rules())
				}
				if len(h.told) != 0 {
					t.Errorf("strangers were told %q", h.told)
				}
			})
		})
	}
}

// A press is what its button stands for, whatever else it claims to say, and once.
func TestPressIsWhatTheButtonSays(t *testing.T) {
	d := &desk{}
	inBubble(t, func(h *house) { h.Questions = d; h.policy.Owners = []string{"42"} }, func(t *testing.T, h *house) {
		h.receive(press(dm("", ""), "1", "yes"))
		h.receive(press(dm("", ""), "1", "yes")) // the network brings it again
		h.receive(press(by(dm("", ""), "43", "Bob"), "2", "owner"))
		h.receive(press(dm("", ""), "3", "owner"))
		pass(5e9)
		h.want("/yes|/owner")
		if d.took != 2 || len(d.told) != 1 || d.told[0] != "for the owner" {
			t.Errorf("%d were taken, told %q", d.took, d.told)
		}
		if got := h.sessions.got[0]; got.Reply.ReplyTo != "7" || !got.SenderIsOwner {
			t.Errorf("%+v", got)
		}
	})
}

// sent is one message of ours.
type sent struct{}

func (sent) SentAs(_ string, _ channel.Target, messageID string) (thread, text string, ok bool) {
	return "", "Shall I\nbook it?", messageID == "7"
}

// Emoji on messages are told with the next message, as the settings say, and begin
// nothing.
func TestReactionsAreContext(t *testing.T) {
	for mode, want := range map[Reactions]string{
		"": "your", ReactionsOwn: "your", ReactionsOff: "", ReactionsAll: "your|a message", ReactionsListed: "",
	} {
		t.Run(string(mode), func(t *testing.T) {
			inBubble(t, func(h *house) {
				h.policy.Reactions = mode
				h.Sent = sent{}
			}, func(t *testing.T, h *house) {
				h.receive(reaction(dm("", ""), "1", "👍"))
				h.receive(reaction(dm("", ""), "1", "👍"))
				theirs := reaction(dm("", ""), "2", "🎉")
				theirs.Reaction.MessageID, theirs.Reaction.Ours = "6", false
				h.receive(theirs)
				pass(60e9)
				h.want("")
				h.restart()
				h.receive(dm("9", "well?"))
				pass(5e9)
				h.want("well?")
				got := h.sessions.got[0]
				if want == "" && len(got.Prompt.History) > 0 {
					t.Fatalf("%q", got.Text)
				}
				for _, part := range strings.Split(want, "|") {
					if !strings.Contains(got.Text, part) {
						t.Errorf("%q is not told: %q", part, got.Text)
					}
				}
				told := strings.Contains(got.Text, "[put 👍 on your message: “Shall I book it?”]")
				if strings.Contains(got.Text, "forged") || told != (want != "") || strings.Count(got.Text, "👍") > 1 {
					t.Errorf("%q", got.Text)
				}
				h.receive(dm("10", "and?"))
				pass(5e9)
				if len(h.sessions.got) != 2 || len(h.sessions.got[1].Prompt.History) != 0 {
					t.Errorf("told twice: %+v", h.sessions.got)
				}
			})
		})
	}
}
