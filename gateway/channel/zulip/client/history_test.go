package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip/zuliptest"
)

// TestHistory: a channel, a topic and a conversation are read back by themselves, and
// words are found in what is meant alone.
func TestHistory(t *testing.T) {
	w := newWorld(t)
	clienttest.Running(t, w.c)
	town := zuliptest.Place{Stream: w.town, Topic: "boats"}
	w.Say(w.ada, town, "the Harbour", nil)
	w.Say(w.ada, zuliptest.Place{Stream: w.town, Topic: "lunch"}, "soup", nil)
	last := w.Say(w.ada, town, "two boats", nil)
	w.Say(w.ada, w.dm, "another harbour", nil)
	texts := func(all []channel.Past, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range all {
			out = append(out, m.SenderName+": "+m.Text)
		}
		return strings.Join(out, " | ")
	}
	all := w.group()
	all.Thread = ""
	topic := all
	topic.Thread = "boats"
	for _, tc := range []struct {
		to     channel.Target
		before string
		limit  int
		want   string
	}{
		{all, "", 2, "Ada: soup | Ada: two boats"}, {all, fmt.Sprint(last.ID), 5, "Ada: the Harbour | Ada: soup"},
		{topic, "", 5, "Ada: the Harbour | Ada: two boats"}, {topic, fmt.Sprint(last.ID), 1, "Ada: the Harbour"},
		{w.direct(), "", 5, "Ada: another harbour"},
	} {
		if got := texts(w.c.Read(t.Context(), tc.to, tc.before, tc.limit)); got != tc.want {
			t.Errorf("%+v before %q: %q", tc.to, tc.before, got)
		}
	}
	if got := texts(w.c.Search(t.Context(), topic, "harbour", 5)); got != "Ada: the Harbour" {
		t.Errorf("%q", got)
	}
	if _, err := w.c.Read(t.Context(), all, "seven", 5); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("before no message: %v", err)
	}
}
