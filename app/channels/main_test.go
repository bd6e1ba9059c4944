package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestRun: it says what it knows, and answers the gateway's first request.
func TestRun(t *testing.T) {
	all := "Networks: discord, email, googlechat, irc, line, matrix, mattermost, msteams, nextcloud-talk, signal, slack, xmpp, zulip"
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, all},
		{[]string{"--help"}, 2, "Usage:"}, {[]string{"nowhere"}, 2, "no network \"nowhere\""},
	} {
		var told bytes.Buffer
		code := run(tc.args, io.NopCloser(strings.NewReader("")), nowhere{}, &told)
		if code != tc.code || !strings.Contains(told.String(), tc.want) {
			t.Errorf("%q: %d, %s", tc.args, code, told.String())
		}
	}
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan int, 1)
	go func() { ended <- run([]string{"irc"}, in, out, io.Discard) }()
	lines := bufio.NewReader(read)
	for _, tc := range []struct{ ask, want string }{
		{`"method":"start"`, `"message":"initialize comes first"`},
		{first(t, `"protocol":1,"channel":"irc","account":"a"`), "channels.irc.host"},
		{first(t, `"protocol":2`), "version 1 of the protocol"},
		{first(t, `"protocol":1,"channel":"irc","account":"a","settings":{"host":"h"}`), `"limits":{"text":400,"unit":"bytes"`},
		{`"method":"ping"`, `"result":{}`},
	} {
		go func() { _, _ = fmt.Fprintf(write, `{"jsonrpc":"2.0","id":1,%s}`+"\n", tc.ask) }()
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, tc.want) {
			t.Errorf("%s: %s %v", tc.ask, line, err)
		}
	}
	_ = write.Close()
	if code := <-ended; code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// first is the request initialize.
func first(t *testing.T, params string) string {
	return fmt.Sprintf(`"method":"initialize","params":{%s,"folder":%q}`, params, t.TempDir())
}

// nowhere takes what nobody reads.
type nowhere struct{ io.Writer }

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }
