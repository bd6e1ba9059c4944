package telegram

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

type fields = map[string]any

func TestInbound(t *testing.T) {
	botMsg := fields{"message_id": 3, "text": "I said\nthis", "from": fields{"id": telegramtest.BotID, "is_bot": true}}
	base := func(chat int64, kind channel.ChatType, label string) channel.Inbound {
		return channel.Inbound{Channel: "telegram", Account: "default", Chat: kind, Conversation: number(chat), Label: label,
			SenderID: "77", SenderName: "Ann", SenderHandle: "ann", MessageID: "1", Mentioned: kind == channel.Direct}
	}
	tests := []struct {
		name  string
		chat  int64
		from  telegramtest.Person
		text  string
		extra fields
		want  func(*channel.Inbound)
	}{
		{"direct", dm, ann(), "hi *there*", nil, func(m *channel.Inbound) { m.Text = "hi *there*" }},
		{"group without mention", group, ann(), "hi all", nil, func(m *channel.Inbound) { m.Text = "hi all" }},
		{"group with mention", group, ann(), "👩‍👩‍👧 @hearthtestbot hi", nil, func(m *channel.Inbound) {
			m.Text, m.Mentioned = "👩‍👩‍👧 @hearthtestbot hi", true
		}},
		{"mention of another", group, ann(), "@hearthtestbot2 hi", nil, func(m *channel.Inbound) { m.Text = "@hearthtestbot2 hi" }},
		{"name in a word is no mention", group, ann(), "a@HearthTestBot", nil, func(m *channel.Inbound) { m.Text = "a@HearthTestBot" }},
		{"text mention", group, ann(), "Hearth, hi",
			fields{"entities": []fields{{"type": "text_mention", "offset": 0, "length": 6, "user": fields{"id": telegramtest.BotID}}}},
			func(m *channel.Inbound) { m.Text, m.Command, m.Mentioned = "Hearth, hi", "hi", true }},
		{"reply to us", group, ann(), "yes", fields{"reply_to_message": botMsg},
			func(m *channel.Inbound) { m.Text, m.Mentioned, m.ReplyToText = "yes", true, "I said\nthis" }},
		{"selected quote", group, ann(), "yes", fields{"reply_to_message": botMsg, "quote": fields{"text": "this"}},
			func(m *channel.Inbound) {
				m.Text, m.Mentioned, m.ReplyToText, m.QuoteSelected = "yes", true, "this", true
			}},
		{"reply to another", group, ann(), "yes", fields{"reply_to_message": fields{"message_id": 3, "caption": "cap", "from": fields{"id": 5}}},
			func(m *channel.Inbound) { m.Text, m.ReplyToText = "yes", "cap" }},
		{"command for us", group, ann(), "/status@HearthTestBot now", nil, func(m *channel.Inbound) {
			m.Text, m.Mentioned = "/status now",
				true
		}},
		{"command for another", group, ann(), "/status@OtherBot now", nil, func(m *channel.Inbound) { m.Text = "/status@OtherBot now" }},
		{"command for nobody", group, ann(), "/status", nil, func(m *channel.Inbound) { m.Text = "/status" }},
		{"topic", forum, ann(), "hi", fields{"message_thread_id": 5, "is_topic_message": true,
			"reply_to_message": fields{"message_id": 5, "from": fields{"id": telegramtest.BotID}, "forum_topic_created": fields{"name": "x"}}},
			func(m *channel.Inbound) { m.Text, m.Thread = "hi", "5" }},
		{"general topic", forum, ann(), "hi", nil, func(m *channel.Inbound) { m.Text, m.Thread = "hi", "1" }},
		{"thread of replies is no topic", group, ann(), "hi", fields{"message_thread_id": 99}, func(m *channel.Inbound) { m.Text = "hi" }},
		{"another bot", group, telegramtest.Person{ID: 8, Name: "Robo", Bot: true}, "beep", nil,
			func(m *channel.Inbound) {
				m.Text, m.SenderID, m.SenderName, m.SenderHandle, m.SenderIsBot = "beep", "8", "Robo", "", true
			}},
		{"anonymous administrator", group, telegramtest.Person{ID: 1087968824, Name: "Group", Bot: true}, "x",
			fields{"sender_chat": fields{"id": group, "title": "Family", "type": "supergroup"}},
			func(m *channel.Inbound) {
				m.Text, m.SenderID, m.SenderName, m.SenderHandle = "x", number(group), "Family", ""
			}},
		{"channel post", room, telegramtest.Person{}, "news", fields{"sender_chat": fields{"id": room, "title": "News", "type": "channel"},
			"author_signature": "Ed"},
			func(m *channel.Inbound) {
				m.Text, m.SenderID, m.SenderName, m.SenderHandle = "news", number(room), "Ed", ""
			}},
		{"photo with caption", group, ann(), "", fields{"caption": "@HearthTestBot look",
			"caption_entities": []fields{{"type": "mention", "offset": 0, "length": 14}},
			"photo":            []fields{{"file_id": "s", "file_size": 10}, {"file_id": "L", "file_size": 900}, {"file_id": "m", "file_size": 100}}},
			func(m *channel.Inbound) {
				m.Text, m.Command, m.Mentioned = "@HearthTestBot look", "look", true
				m.Media = []channel.Media{{MIME: "image/jpeg", Name: "photo.jpg", URL: "telegram-file:L", Size: 900}}
			}},
		{"document", dm, ann(), "", fields{"document": fields{"file_id": "d", "file_name": "../../etc/pass\"wd", "mime_type": "application/pdf",
			"file_size": 5}},
			func(m *channel.Inbound) {
				m.Media = []channel.Media{{MIME: "application/pdf", Name: "pass_wd", URL: "telegram-file:d", Size: 5}}
			}},
		{"voice", dm, ann(), "", fields{"voice": fields{"file_id": "v", "file_size": 5}},
			func(m *channel.Inbound) {
				m.Media = []channel.Media{{MIME: "audio/ogg", Name: "voice.ogg", URL: "telegram-file:v", Size: 5, Voice: true}}
			}},
		{"animation once", dm, ann(), "", fields{"animation": fields{"file_id": "a"}, "document": fields{"file_id": "a"}},
			func(m *channel.Inbound) {
				m.Media = []channel.Media{{MIME: "video/mp4", Name: "animation.mp4", URL: "telegram-file:a"}}
			}},
		{"sticker", dm, ann(), "", fields{"sticker": fields{"file_id": "k", "emoji": "🙂"}},
			func(m *channel.Inbound) {
				m.Text = "[sticker 🙂]"
				m.Media = []channel.Media{{MIME: "image/webp", Name: "sticker.webp", URL: "telegram-file:k"}}
			}},
		{"sticker that moves", dm, ann(), "", fields{"sticker": fields{"file_id": "k", "emoji": "🙂", "is_animated": true,
			"thumbnail": fields{"file_id": "t", "file_size": 9}}},
			func(m *channel.Inbound) {
				m.Text = "[sticker 🙂]"
				m.Media = []channel.Media{{MIME: "image/webp", Name: "sticker.webp", URL: "telegram-file:t", Size: 9}}
			}},
		{"poll", dm, ann(), "", fields{"poll": fields{"question": "Where\nto?", "options": []fields{{"text": "sea"}, {"text": "hills"}}}},
			func(m *channel.Inbound) { m.Text = "[poll: Where to? (sea / hills)]" }},
		{"dice", dm, ann(), "", fields{"dice": fields{"emoji": "🎲", "value": 4}}, func(m *channel.Inbound) { m.Text = "[🎲 4]" }},
		{"location", dm, ann(), "", fields{"location": fields{"latitude": 52.5, "longitude": 13.25}},
			func(m *channel.Inbound) { m.Text = "[location: 52.500000, 13.250000]" }},
		{"contact", dm, ann(), "", fields{"contact": fields{"first_name": "Bo\n[x]", "phone_number": "+1"}},
			func(m *channel.Inbound) { m.Text = "[contact: Bo [x] +1]" }},
		{"wrong offsets", group, ann(), "hi",
			fields{"entities": []fields{{"type": "mention", "offset": 1, "length": 99}, {"type": "bot_command", "offset": -1, "length": 2},
				{"type": "mention", "offset": 9223372036854775807, "length": 9223372036854775807}}},
			func(m *channel.Inbound) { m.Text = "hi" }},
	}
	kinds := map[int64]channel.ChatType{dm: channel.Direct, group: channel.Group, forum: channel.Group, room: channel.Room}
	labels := map[int64]string{dm: "Ann", group: "Family", forum: "Work", room: "News"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(r *rig) {
				stop := r.run()
				r.net.Say(tt.chat, tt.from, tt.text, tt.extra)
				got := r.messages()
				if len(got) != 1 {
					t.Fatalf("got %d messages", len(got))
				}
				want := base(tt.chat, kinds[tt.chat], labels[tt.chat])
				want.At = time.Now().Truncate(time.Second)
				tt.want(&want)
				if diff := cmp.Diff(want, got[0]); diff != "" {
					t.Error(diff)
				}
				_ = stop()
			})
		})
	}
}

func TestServiceMessagesAreNoMessages(t *testing.T) {
	in(t, func(r *rig) {
		stop := r.run()
		for _, extra := range []fields{
			{"new_chat_members": []fields{{"id": 9}}}, {"left_chat_member": fields{"id": 9}}, {"new_chat_title": "x"},
			{"pinned_message": fields{"message_id": 1}}, {"migrate_to_chat_id": -5}, {"forum_topic_created": fields{"name": "t"}},
		} {
			r.net.Say(group, ann(), "", extra)
		}
		r.net.Push(fields{"edited_message": fields{"message_id": 1, "location": fields{"latitude": 1},
			"chat": fields{"id": dm, "type": "private"}}})
		r.net.Push(fields{"callback_query": fields{"id": "x"}})
		if got := r.messages(); len(got) != 0 {
			t.Fatalf("got %+v", got)
		}
		_ = stop()
	})
}

// TestEditsChangeTheirMessage: what somebody changes is the same message with other
// words; whether that still counts is decided where messages come in.
func TestEditsChangeTheirMessage(t *testing.T) {
	in(t, func(r *rig) {
		stop := r.run()
		r.net.Say(dm, ann(), "red", nil)
		r.net.Push(fields{"edited_message": fields{"message_id": 1, "text": "blue", "date": 5, "edit_date": 9,
			"from": fields{"id": 77, "first_name": "Ann"}, "chat": fields{"id": dm, "type": "private"}}})
		r.net.Push(fields{"edited_channel_post": fields{"message_id": 2, "caption": "news", "chat": fields{"id": room, "type": "channel"}}})
		got := r.messages()
		if len(got) != 3 || got[0].Edited || !got[1].Edited || got[1].Text != "blue" || got[1].MessageID != got[0].MessageID ||
			!got[2].Edited || got[2].Text != "news" {
			t.Errorf("got %+v", got)
		}
		_ = stop()
	})
}

func FuzzUpdate(f *testing.F) {
	for _, s := range []string{
		`{"update_id":1,"message":{"message_id":2,"date":1,"text":"/a@HearthTestBot 😀","chat":{"id":3,"type":"group"},"entities":[{"type":"bot_command","offset":0,"length":16}]}}`,
		`{"update_id":1,"channel_post":{"message_id":2,"chat":{"id":-3,"type":"channel"},"caption":"x","photo":[{"file_id":"a"}]}}`,
		`{"update_id":9,"message":7}`, `null`, `{}`, `[`,
	} {
		f.Add([]byte(s))
	}
	ch, err := New(Options{Token: testToken})
	if err != nil {
		f.Fatal(err)
	}
	ch.me = user{ID: telegramtest.BotID, Username: telegramtest.BotName}
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, ok := parseUpdate(json.RawMessage(raw))
		if !ok {
			return
		}
		if m, ok := ch.inbound(u); ok && (m.Conversation == "" || m.MessageID == "" || m.SenderID == "" || m.Text == "" && len(m.Media) == 0) {
			t.Errorf("an incomplete message: %+v", m)
		}
	})
}

// CommandBody is what commands are read from, without our name.
func TestCommandBesideAMention(t *testing.T) {
	me := user{ID: telegramtest.BotID, Username: telegramtest.BotName}
	at := "@" + telegramtest.BotName
	for text, want := range map[string]string{
		at + " /status": "/status", at + " stop": "stop", at + ", stop": "stop", "stop " + at: "stop", "Stop, " + at + "!": "Stop",
		at + " /think high what is 1+1?": "/think high what is 1+1?", at + " /status" + at + " now": "/status now",
		"@other stop": "@other stop", "stop @other": "stop @other", at + " @other stop": "@other stop", "please " + at + " stop": "please " + at +
			" stop", at: at, "👍🏽 x": "👍🏽 x",
	} {
		var entities []entity
		for _, name := range []string{at, "@other"} {
			for from := 0; ; {
				i := strings.Index(text[from:], name)
				if i < 0 {
					break
				}
				i += from
				from = i + len(name)
				if i > 0 && text[i-1] != ' ' {
					continue
				}
				entities = append(entities, entity{Type: "mention", Offset: utf16Len(text[:i]), Length: utf16Len(name)})
			}
		}
		if got := commandOf(text, entities, me); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	named := []entity{{Type: "text_mention", Offset: 0, Length: 6, User: &user{ID: me.ID}}}
	if got := commandOf("Hearth: stop", named, me); got != "stop" {
		t.Errorf("%q", got)
	}
	named[0].User.ID = 5
	if got := commandOf("Hearth: stop", named, me); got != "Hearth: stop" {
		t.Errorf("a person of that name: %q", got)
	}
}
