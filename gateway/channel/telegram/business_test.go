package telegram

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

const customer = int64(88)

func bea() telegramtest.Person { return telegramtest.Person{ID: customer, Name: "Bea"} }

// shop is a rig where Ann has connected the bot to her Telegram Business account.
func shop(t *testing.T, o Options, c telegramtest.Connection, f func(r *rig)) {
	t.Helper()
	files := fstest.MapFS{"a.mp4": {Data: []byte("film")}, "b.mp4": {Data: []byte("film")}}
	o.OpenFile = func(p string) (fs.File, error) { return files.Open(p) }
	inMode(t, o, func(r *rig) {
		r.net.AddChat(telegramtest.Chat{ID: customer, Type: "private", Title: "Bea"})
		r.net.Connect(c, true)
		f(r)
	})
}

func conn() telegramtest.Connection {
	return telegramtest.Connection{ID: "bc_1", Owner: ann(), CanReply: true, Enabled: true}
}

func anns() Options { return Options{Business: []string{"77"}} }

func TestBusinessChats(t *testing.T) {
	shop(t, anns(), conn(), func(r *rig) {
		hi := r.net.SayTo("bc_1", customer, bea(), "do you have bread?", nil)
		r.net.SayTo("bc_1", customer, ann(), "one moment", nil)
		r.net.SayTo("bc_1", customer, ann(), "what the bot said for her",
			map[string]any{"sender_business_bot": map[string]any{"id": telegramtest.BotID, "is_bot": true}})
		r.net.ChangeTo("bc_1", customer, hi, bea(), "do you have rye bread?")
		r.net.DeleteOf("bc_1", customer, hi)
		got := r.messages()
		if len(got) != 0 {
			t.Fatal("something came before Run")
		}
		stop := r.run()
		defer func() { _ = stop() }()
		got = r.messages()
		if len(got) != 4 {
			t.Fatalf("%d messages: %+v", len(got), got)
		}
		in := got[0]
		if in.Chat != channel.Group || in.Conversation != "business:bc_1:88" || in.Behalf != "77" || in.SenderID != "88" || !in.Mentioned ||
			in.Text != "do you have bread?" || in.Label != "Bea, a customer of Ann" || in.SenderName != "Bea" {
			t.Errorf("%+v", in)
		}
		if got[1].Mentioned || got[1].SenderID != "77" || got[1].Text != "one moment" {
			t.Errorf("what the person says themselves asks for nothing: %+v", got[1])
		}
		if e := got[2]; !e.Edited || e.Withdrawn || e.MessageID != in.MessageID || e.Text != "do you have rye bread?" {
			t.Errorf("%+v", e)
		}
		if d := got[3]; !d.Edited || !d.Withdrawn || d.MessageID != in.MessageID || d.Conversation != in.Conversation {
			t.Errorf("%+v", d)
		}
		if r.net.Calls("getBusinessConnection") != 1 {
			t.Errorf("%d questions about the connection", r.net.Calls("getBusinessConnection"))
		}
	})
}

func TestBusinessAnswers(t *testing.T) {
	shop(t, anns(), conn(), func(r *rig) {
		said := r.net.SayTo("bc_1", customer, bea(), "hello", nil)
		to := channel.Target{Conversation: "business:bc_1:88", ReplyTo: number(said)}
		sent, err := r.ch.Send(r.t.Context(), channel.Message{To: to, Text: "**yes**"})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ch.Typing(r.t.Context(), to); err != nil {
			t.Error(err)
		}
		if err := r.ch.Edit(r.t.Context(), to, sent.MessageID, "yes, rye"); err != nil {
			t.Error(err)
		}
		if err := r.ch.Pin(r.t.Context(), to, sent.MessageID, true); err != nil {
			t.Error(err)
		}
		if _, err := r.ch.Send(r.t.Context(), channel.Message{To: to, Text: "two", Media: album("a.mp4", "b.mp4")}); err != nil {
			t.Error(err)
		}
		if _, err := r.ch.Poll(r.t.Context(), to, channel.Poll{Question: "which?", Options: []string{"a", "b"}}); err != nil {
			t.Error(err)
		}
		m := r.net.SentFor("bc_1", customer)
		if len(m) != 4 || m[0].Text != "yes, rye" || m[0].ReplyTo != said || m[1].Album == "" || m[1].Text != "two" {
			t.Fatalf("%+v", m)
		}
		if got := r.net.Sent(customer); len(got) != 0 {
			t.Errorf("in the bot's own chat with the customer: %+v", got)
		}
		mustBe(t, r.ch.React(r.t.Context(), to, sent.MessageID, "👍"), channel.ErrRefused)
		if err := r.ch.Delete(r.t.Context(), to, sent.MessageID); err != nil || len(r.net.SentFor("bc_1", customer)) != 3 {
			t.Errorf("%v, %+v", err, r.net.SentFor("bc_1", customer))
		}
		r.wait(25 * time.Hour)
		_, err = r.ch.Send(r.t.Context(), channel.Message{To: to, Text: "still there?"})
		mustBe(t, err, channel.ErrRefused)
		if !strings.Contains(err.Error(), "24 hours") {
			t.Error(err)
		}
	})
}

// Anybody can connect any bot: nothing comes in and nothing goes out before the account
// stands in the settings and its owner lets the bot reply.
func TestBusinessOnlyWhereItIsAllowed(t *testing.T) {
	mute := conn()
	mute.CanReply = false
	off := conn()
	off.Enabled = false
	for name, tc := range map[string]struct {
		o Options
		c telegramtest.Connection
	}{
		"not in the settings": {Options{}, conn()}, "somebody else is": {Options{Business: []string{"78"}}, conn()},
		"no replies": {anns(), mute}, "switched off": {anns(), off},
	} {
		t.Run(name, func(t *testing.T) {
			shop(t, tc.o, tc.c, func(r *rig) {
				stop := r.run()
				defer func() { _ = stop() }()
				id := r.net.SayTo("bc_1", customer, bea(), "hello", nil)
				r.net.DeleteOf("bc_1", customer, id)
				r.net.SayTo("bc_unknown", customer, bea(), "hello", nil)
				r.net.SayTo("../x", customer, bea(), "hello", nil)
				r.net.Push(map[string]any{"callback_query": map[string]any{"id": "1", "data": "yes", "from": map[string]any{"id": 88},
					"message": map[string]any{"message_id": 1, "business_connection_id": "bc_1", "chat": map[string]any{"id": 88, "type": "private"}}}})
				if got := r.messages(); len(got) != 0 {
					t.Errorf("%+v", got)
				}
				for _, conversation := range []string{"business:bc_1:88", "business:bc_2:88", "business:x", "business::88", "business:bc_1:"} {
					to := channel.Target{Conversation: conversation}
					_, err := r.ch.Send(r.t.Context(), channel.Message{To: to, Text: "hi"})
					mustBe(t, err, channel.ErrRefused)
					mustBe(t, r.ch.Edit(r.t.Context(), to, "1", "x"), channel.ErrRefused)
					mustBe(t, r.ch.Typing(r.t.Context(), to), channel.ErrRefused)
				}
				if r.net.Calls("sendMessage")+r.net.Calls("editMessageText")+r.net.Calls("sendChatAction") != 0 {
					t.Error("something was asked of Telegram")
				}
			})
		})
	}
}

// What a person lets the bot do counts from the moment that Telegram tells it.
func TestBusinessConnectionChanges(t *testing.T) {
	shop(t, anns(), conn(), func(r *rig) {
		stop := r.run()
		defer func() { _ = stop() }()
		r.net.SayTo("bc_1", customer, bea(), "one", nil)
		mute := conn()
		mute.CanReply = false
		r.net.Connect(mute, false)
		r.net.SayTo("bc_1", customer, bea(), "two", nil)
		r.net.Connect(conn(), false)
		r.net.SayTo("bc_1", customer, bea(), "three", nil)
		if got := r.texts(); strings.Join(got, " ") != "one three" {
			t.Errorf("%q", got)
		}
	})
}

// Whoever connects the bot is told how their customers are let in, in their own chat
// with it, where the rules for strangers hold.
func TestBusinessConnectionSaysWhatIsMissing(t *testing.T) {
	shop(t, Options{}, conn(), func(r *rig) {
		stop := r.run()
		defer func() { _ = stop() }()
		r.net.Connect(conn(), false)
		got := r.messages()
		if len(got) != 1 || got[0].Chat != channel.Direct || got[0].SenderID != "77" || got[0].Behalf != "" ||
			!strings.Contains(got[0].Text, `businessAccounts '["77"]'`) {
			t.Fatalf("%+v", got)
		}
		_, err := r.ch.Send(r.t.Context(), channel.Message{Text: "I see",
			To: channel.Target{Conversation: got[0].Conversation, ReplyTo: got[0].MessageID}})
		if err != nil || len(r.net.Sent(dm)) != 1 {
			t.Errorf("%v, %+v", err, r.net.Sent(dm))
		}
	})
}

// A failing question about a connection loses nothing: the message comes again.
func TestBusinessConnectionUnknownForNow(t *testing.T) {
	shop(t, anns(), conn(), func(r *rig) {
		r.net.Fail("getBusinessConnection", telegramtest.Fault{Status: 500, Description: "Internal Server Error"})
		r.net.SayTo("bc_1", customer, bea(), "hello", nil)
		stop := r.run()
		defer func() { _ = stop() }()
		r.wait(time.Minute)
		if got := r.texts(); len(got) != 1 || r.net.Pending() != 0 {
			t.Errorf("%q, %d wait", got, r.net.Pending())
		}
	})
}

func FuzzBusinessUpdate(f *testing.F) {
	f.Add([]byte(`{"update_id":1,"business_connection":{"id":"a","user":{"id":77},"user_chat_id":77,` +
		`"rights":{"can_reply":true},"is_enabled":true}}`))
	f.Add([]byte(`{"update_id":1,"business_message":{"message_id":1,"business_connection_id":"a","from":{"id":8},` +
		`"chat":{"id":8,"type":"private"},"text":"x"}}`))
	f.Add([]byte(`{"update_id":1,"deleted_business_messages":{"business_connection_id":"a",` +
		`"chat":{"id":8,"type":"private"},"message_ids":[1,2]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ch, err := New(Options{Token: testToken, Business: []string{"77"}})
		if err != nil {
			t.Fatal(err)
		}
		b := connection{ID: "a", User: user{ID: 77}, CanReply: true, Enabled: true}
		ch.connected(b)
		u, ok := parseUpdate(json.RawMessage(raw))
		of := func(m *message) bool { return m == nil || m.ConnectionID == "a" }
		if !ok || !of(u.BusinessMessage) || !of(u.EditedBusiness) || u.Callback != nil ||
			u.DeletedBusiness != nil && u.DeletedBusiness.ConnectionID != "a" {
			return // what would be asked of Telegram
		}
		all, err := ch.messagesOf(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range all {
			if in.Behalf != "" && (in.Chat != channel.Group || !strings.HasPrefix(in.Conversation, "business:a:")) {
				t.Errorf("%+v", in)
			}
		}
	})
}
