package reply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Silent replies: the exact token and nothing else.
func TestSilentToken(t *testing.T) {
	for text, want := range map[string]bool{
		"NO_REPLY": true, "no_reply": true, " NO_REPLY\n": true, "No_Reply": false, "NO_REPLY.": false, "NO_REPLY ok": false, "": false,
		"`NO_REPLY`": false,
	} {
		if Silent(text) != want {
			t.Errorf("Silent(%q) is %v", text, !want)
		}
	}
}

// A token that is being streamed does not leak, and an answer that only starts
// like it is shown as soon as it differs.
func TestSilentPrefixDoesNotLeak(t *testing.T) {
	for _, token := range []string{"NO_REPLY", "no_reply", "\nNO_REPLY \n"} {
		for i := range token {
			if !MaybeSilent(token[:i]) {
				t.Errorf("%q could still be silent", token[:i])
			}
		}
	}
	for text, want := range map[string]bool{"N": true, "No": false, "NO": true, "NO problem": false, "no": true, "no, ": false,
		"NO_REPLYING": false} {
		if MaybeSilent(text) != want {
			t.Errorf("MaybeSilent(%q) is %v", text, !want)
		}
	}
}

// Media that come with a silent text are still delivered.
func TestSilentTextWithMedia(t *testing.T) {
	got := Read("NO_REPLY\nMEDIA:/tmp/voice.ogg")
	if got.Text != "" || len(got.Media) != 1 || got.Media[0].Name != "voice.ogg" {
		t.Errorf("%+v", got)
	}
	if got := Read("NO_REPLY", channel.Media{URL: "tts.mp3"}); got.Text != "" || len(got.Media) != 1 {
		t.Errorf("%+v", got)
	}
	if !Read("no_reply").Empty() {
		t.Error("a bare token is something")
	}
}

// Silence by the type of conversation.
func TestSilencePolicy(t *testing.T) {
	defaults := SilencePolicy{Group: false}
	for _, tc := range []struct {
		p    SilencePolicy
		c    Conversation
		want bool
	}{
		{nil, Direct, false}, {nil, Group, true}, {nil, Internal, true},
		{SilencePolicy{Direct: true}, Direct, false},
		{defaults, Group, false},
		{SilencePolicy{Group: true}.Over(defaults), Group, true},
	} {
		if got := tc.p.Guided(tc.c); got != tc.want {
			t.Errorf("%v %s: %v", tc.p, tc.c, got)
		}
	}
	if ConversationOf(channel.Room) != Group || ConversationOf(channel.Direct) != Direct {
		t.Error("chat types")
	}
}

// Failures before any answer stay out of groups.
func TestErrorsByConversation(t *testing.T) {
	for _, tc := range []struct {
		c        Conversation
		answered bool
		full     bool
		want     string
	}{
		{Direct, false, false, "short"}, {Direct, false, true, "detail"}, {Group, false, false, ""}, {Group, false, true, ""},
		{Group, true, false, "short"},
	} {
		if got, ok := ErrorShown(tc.c, tc.answered, "short", "detail", tc.full); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%+v: %q, %v", tc, got, ok)
		}
	}
}

// The cascade of responsePrefix.
func TestResponsePrefix(t *testing.T) {
	s := func(v string) *string { return &v }
	for _, tc := range []struct {
		account, channel, global *string
		want                     string
	}{
		{nil, nil, nil, "hi"}, {nil, nil, s("[g]"), "[g] hi"}, {nil, s("[c]"), s("[g]"), "[c] hi"}, {s("[a] "), s("[c]"), s("[g]"), "[a] hi"},
		{s(""), s("[c]"), nil, "hi"},
	} {
		got := WithPrefix(Prefix(tc.account, tc.channel, tc.global), "hi")
		if got != tc.want || WithPrefix(Prefix(tc.account, tc.channel, tc.global), got) != got {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestParseMedia(t *testing.T) {
	for name, tc := range map[string]struct{ in, rest, urls string }{
		"line":           {"look:\nMEDIA:https://x.example/a/b.png?x=1\nnice", "look:\nnice", "https://x.example/a/b.png?x=1"},
		"quoted, spaces": {"MEDIA: `/tmp/my file.png`", "", "/tmp/my file.png"},
		"several":        {"MEDIA:a.png\nMEDIA:b.png\n", "", "a.png b.png"},
		"in a sentence":  {"write MEDIA:x to send", "write MEDIA:x to send", ""},
		"in a fence":     {"```\nMEDIA:a.png\n```\nMEDIA:b.png", "```\nMEDIA:a.png\n```\n", "b.png"},
		"names nothing":  {"MEDIA:\nx", "MEDIA:\nx", ""},
		"longer fence":   {"````\n```\nMEDIA:a\n````\nMEDIA:b", "````\n```\nMEDIA:a\n````\n", "b"},
		"without":        {"plain", "plain", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rest, media := Parse(tc.in)
			var urls []string
			for _, m := range media {
				urls = append(urls, m.URL)
			}
			if rest != tc.rest || strings.Join(urls, " ") != tc.urls {
				t.Errorf("%q, %v", rest, urls)
			}
		})
	}
}

// Media are delivered once when blocks are streamed.
func TestTurn(t *testing.T) {
	for name, tc := range map[string]struct {
		blocks []string
		final  string
		want   Payload
	}{
		"nothing was said":         {nil, "all of it", Payload{Text: "all of it"}},
		"exact duplicate":          {[]string{"all of it"}, "all of it", Payload{}},
		"duplicate of the pieces":  {[]string{"all of", "it"}, "all of\n\nit", Payload{}},
		"the rest":                 {[]string{"one\n\n"}, "one\n\ntwo", Payload{Text: "two"}},
		"something else":           {[]string{"working on it"}, "done", Payload{Text: "done"}},
		"media once":               {[]string{"MEDIA:a.png"}, "MEDIA:a.png", Payload{}},
		"media once, new text":     {[]string{"MEDIA:a.png"}, "here it is\nMEDIA:a.png", Payload{Text: "here it is"}},
		"other media":              {[]string{"MEDIA:a.png"}, "MEDIA:b.png", Payload{Media: []channel.Media{{URL: "b.png", Name: "b.png"}}}},
		"spelt another way":        {[]string{"MEDIA:file:///tmp/a.png"}, "MEDIA:/tmp/a.png", Payload{}},
		"named twice in one final": {nil, "MEDIA:a.png\nMEDIA:a.png", Payload{Media: []channel.Media{{URL: "a.png", Name: "a.png"}}}},
		"what a tool call parts":   {[]string{"let me look", "it is", "done"}, "it is\n\ndone, I think", Payload{Text: ", I think"}},
		"a cut inside a word":      {[]string{"wonder", "ful"}, "wonderful", Payload{}},
		"only a word in common":    {[]string{"is it done"}, "done", Payload{Text: "done"}},
		"silent after blocks":      {[]string{"said"}, "NO_REPLY", Payload{}},
	} {
		t.Run(name, func(t *testing.T) {
			var turn Turn
			for _, b := range tc.blocks {
				turn.Said(turn.Block(Read(b)))
			}
			if diff := cmp.Diff(tc.want, turn.Left(Read(tc.final))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"MEDIA:x", "a\nMEDIA: `b`\n", "```\nMEDIA:x", "MEDIA:\x00", "NO_REPLY\nMEDIA:y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest, media := Parse(s)
		if len(media) == 0 && rest != s {
			t.Errorf("%q became %q without media", s, rest)
		}
		var turn Turn
		if turn.Said(Read(s)); !turn.Left(Read(s)).Empty() {
			t.Errorf("%q is said twice", s)
		}
	})
}
