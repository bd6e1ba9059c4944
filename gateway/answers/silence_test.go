package answers

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/outbound"
)

// Silent replies: only groups hear of the token, and the settings
// of a surface stand over the defaults.
func TestSilenceAdvice(t *testing.T) {
	surface := func(word string) map[string]Silence { return map[string]Silence{"telegram": {Group: word}} }
	for _, tt := range []struct {
		name, chat, group string
		surfaces          map[string]Silence
		want              bool
	}{
		{"a group", "group", "allow", nil, true},
		{"a room", "channel", "allow", nil, true},
		{"a direct chat", "direct", "allow", nil, false},
		{"our own clients", "", "allow", nil, false},
		{"groups are told not to", "group", "disallow", nil, false},
		{"the surface forbids", "group", "allow", surface("disallow"), false},
		{"the surface allows", "group", "disallow", surface("allow"), true},
		{"the surface says nothing", "group", "disallow", surface(""), false},
	} {
		c := Section.With(SurfacesSection.With(config.Config{}, tt.surfaces), Configured{Silence: Silence{Group: tt.group}})
		where := ""
		if tt.chat != "" {
			where = strings.Join([]string{"telegram", "default", "-1", "", tt.chat}, "\x1f")
		}
		if got := SilenceAdvice(c, where); (got != "") != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// An answer in blocks replies like one in messages: with its first, or all.
func TestBlocksReplyByTheMode(t *testing.T) {
	for mode, want := range map[string][2]outbound.ReplyMode{"off": {"off", "off"}, "first": {"first", "off"}, "all": {"all", "all"},
		"": {"", "off"}} {
		if got := [2]outbound.ReplyMode{replyOfBlock(1, mode), replyOfBlock(2, mode)}; got != want {
			t.Errorf("%q: %v", mode, got)
		}
	}
}
