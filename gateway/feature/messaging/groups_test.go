package messaging_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// What the settings say of one group and its topics holds there and nowhere else:
// what the model is told, which tools and skills there are, and who must be named.
func TestWhatOneGroupIsTold(t *testing.T) {
	const club, forum = int64(-7), int64(-1009)
	skills := t.TempDir()
	gatewaytest.PutSkill(t, skills, "weather-here", "")
	gatewaytest.PutSkill(t, skills, "timesheets", "")
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{
		"streaming": "off", "dmPolicy": "allowlist", "allowFrom": []string{"777"}, "groupAllowFrom": []string{"777"},
		"groups": map[string]any{
			"-7": map[string]any{"requireMention": false},
			"-1009": map[string]any{
				"requireMention": false, "systemPrompt": "Here we speak of bicycles.", "skills": []string{"timesheets"},
				"tools": map[string]any{"deny": []string{"group:memory"}},
				"topics": map[string]any{
					"5": map[string]any{"systemPrompt": "This topic is for repairs.", "skills": []string{}},
					"6": map[string]any{"enabled": false},
				},
			},
		},
	})
	p := r.Connect()
	p.Patch(map[string]any{"skills": map[string]any{"load": map[string]any{"extraDirs": []string{skills}, "watch": false}}})
	api.AddChat(telegramtest.Chat{ID: club, Type: "supergroup", Title: "Club"})
	api.AddChat(telegramtest.Chat{ID: forum, Type: "supergroup", Title: "Forum", Forum: true, Topics: []int64{5, 6}})
	anna := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	in := func(topic int64) map[string]any {
		return map[string]any{"message_thread_id": topic, "is_topic_message": true}
	}
	for _, c := range []struct {
		name     string
		chat     int64
		extra    map[string]any
		has, not []string
		called   []string // of two skills
	}{
		{"another group", club, nil, []string{"This is a group chat", "- memory_search:"}, []string{"bicycles", "repairs"},
			[]string{"weather-here", "timesheets"}},
		{"the group", forum, nil, []string{"This is a group chat", "Here we speak of bicycles."}, []string{"repairs", "- memory_search:"},
			[]string{"timesheets"}},
		{"a topic", forum, in(5), []string{"Here we speak of bicycles.\n\nThis topic is for repairs."}, []string{"- memory_search:"}, nil},
		{"at home", gatewaytest.Anna, nil, []string{"- memory_search:", "<name>weather-here<", "<name>timesheets<"},
			[]string{"bicycles", "This is a group chat"}, []string{"weather-here", "timesheets"}},
	} {
		ask := func(text string) string {
			before := len(gatewaytest.Texts(api, c.chat))
			api.Say(c.chat, anna, text, c.extra)
			gatewaytest.WaitFor(t, c.name+": an answer to "+text, func() bool { return len(gatewaytest.Texts(api, c.chat)) > before })
			return gatewaytest.Texts(api, c.chat)[before]
		}
		ask("hello, " + c.name)
		sent := r.Model.Snapshot().System
		for _, want := range c.has {
			if !strings.Contains(sent, want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, sent)
			}
		}
		for _, not := range c.not {
			if strings.Contains(sent, not) {
				t.Errorf("%s: %q is in the prompt", c.name, not)
			}
		}
		var called []string
		for _, name := range []string{"weather-here", "timesheets"} {
			if answer := ask("/" + name + " now"); strings.Contains(answer, "SKILL.md") || strings.Contains(answer, "skill") {
				called = append(called, name)
			}
		}
		if strings.Join(called, " ") != strings.Join(c.called, " ") {
			t.Errorf("%s: the skills that were called are %q", c.name, called)
		}
	}
	api.Say(forum, anna, "is anybody there?", in(6))
	api.Say(forum, anna, "and here?", in(5))
	gatewaytest.WaitFor(t, "the next answer", func() bool {
		all := gatewaytest.Texts(api, forum)
		return strings.Contains(all[len(all)-1], "and here?")
	})
	for _, text := range gatewaytest.Texts(api, forum) {
		if strings.Contains(text, "is anybody there?") {
			t.Errorf("a topic that is switched off was answered: %q", text)
		}
	}
	p.Patch(map[string]any{"channels": map[string]any{"telegram": map[string]any{"groups": map[string]any{
		"-1009": map[string]any{"tools": map[string]any{"deny": []string{}}},
	}}}})
	gatewaytest.WaitFor(t, "the tool after the rule has gone", func() bool {
		before := len(gatewaytest.Texts(api, forum))
		api.Say(forum, anna, "once more", in(5))
		gatewaytest.WaitFor(t, "an answer", func() bool { return len(gatewaytest.Texts(api, forum)) > before })
		return strings.Contains(r.Model.Snapshot().System, "- memory_search:")
	})
}
