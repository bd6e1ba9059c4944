package cli

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What is piped in goes along, in whatever encoding it is; what is no text is refused.
func TestWhatIsSaid(t *testing.T) {
	long := strings.Repeat("x", protocol.MaxMessageText)
	for _, c := range []struct {
		name, words, in string
		piped           bool
		want, refused   string
	}{
		{name: "words", words: "hello there", want: "hello there"},
		{name: "words, and nothing is there", words: "hello", in: "not read", want: "hello"},
		{name: "words and a file", words: "Summarise this", in: "a\nb\n", piped: true, want: "Summarise this\n\na\nb"},
		{name: "words and an empty file", words: "hello", in: "\n", piped: true, want: "hello"},
		{name: "a pipe", words: "-", in: "a\n", piped: true, want: "a"},
		{name: "no words", in: " a ", want: "a"},
		{name: "nothing", in: "", refused: "there is no message"},
		{name: "Latin 1", in: "caf\xe9 gr\xfc\xdfe", want: "café grüße"},
		{name: "UTF-16", in: "\xff\xfeh\x00i\x00", want: "hi"},
		{name: "a mark of the encoding", in: "\xef\xbb\xbfhi", want: "hi"},
		{name: "no text", words: "what is this?", in: "\x00\x01\x02\x03\x00\xff\xd8", piped: true, refused: "no text"},
		{name: "as long as may be", in: long, want: long},
		{name: "too long", in: long + "x", refused: "larger than"},
		{name: "too long together", words: "look:", in: long, piped: true, refused: "larger than"},
		{name: "too long in UTF-16", in: "\xff\xfe" + long, refused: "larger than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var args []string
			if c.words != "" {
				args = []string{c.words}
			}
			a := &app{World: World{In: strings.NewReader(c.in), Err: io.Discard, InPiped: c.piped, Env: func(string) string { return "" }}}
			got, err := chatText(a, args)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%.80q, %v", got, err)
				}
			} else if err != nil || got != c.want {
				t.Errorf("%.80q, %v, want %.80q", got, err, c.want)
			}
		})
	}
}

// A pipe that is left open and silent holds nobody up.
func TestASilentPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		defer out.Close()
		var told strings.Builder
		a := &app{World: World{In: in, Err: &told, InPiped: true, Env: func(string) string { return "" }}}
		got, err := chatText(a, []string{"hello"})
		if err != nil || got != "hello" || !strings.Contains(told.String(), "Nothing came") {
			t.Errorf("%q %v %q", got, err, told.String())
		}
		told.Reset()
		if a.quiet = true; !quietly(a) || told.String() != "" {
			t.Errorf("with --quiet: %q", told.String())
		}
	})
}

func quietly(a *app) bool {
	got, err := chatText(a, []string{"hello"})
	return got == "hello" && err == nil
}
