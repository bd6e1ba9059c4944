package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

// TestMain: the test program is the guardian of what gateways start in it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == gateway.GuardianArg {
		rerun.Exit(gateway.Guardian())
	}
	os.Exit(m.Run())
}

// taking is how a program of docs/channels/write-your-own.md begins: it takes each line
// and answers it. What it does of its own for a line follows.
const taking = `login='{}'
note() { printf '{"jsonrpc":"2.0","method":"%s","params":%s}\n' "$1" "$2"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  result='{}'
  case "$line" in *'"initialize"'*)
    result='{"protocol":1,"name":"program of a test","version":"1","limits":{"text":2000},"can":[]}';;
    *'"login"'*) result=$login;; esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
`

// asking is a program that asks for somebody, again, and is connected when it finds a
// file. It is what docs/channels/write-your-own.md says.
const asking = taking + `  case "$line" in *'"start"'*)
    note status '{"state":"waiting","problem":"it waits for a phone"}'
    note ask '{"kind":"qr","value":"2@first","text":"Scan this.","expiresMs":60000}'
    ( sleep 2
      note ask '{"kind":"code","value":"ABCD-1234","text":"Type this on the phone.","expiresMs":60000}'
      sleep 2
      note ask '{}'
      note status '{"state":"receiving"}' ) & ;; esac
done
`

// TestChannelsLogin: what a program asks is drawn in the terminal and given to clients
// as a picture, until the account is connected.
func TestChannelsLogin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is written for a Unix shell")
	}
	home := withProgram(t, asking)
	n := newAnswers(t, home, "")
	first := make(chan error, 1)
	go func() { first <- pictures(t.Context(), n.c) }()
	if err := loginChannel(t.Context(), n.a, "program", "default"); err != nil {
		t.Errorf("%v\n%s", err, n.said)
	}
	said := n.said.String()
	for _, want := range []string{"it waits for a phone", "Scan this.", "▄", "Type this on the phone.", "ABCD-1234",
		"The account is connected."} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in:\n%s", want, said)
		}
	}
	if strings.Count(said, "Scan this.") != 1 {
		t.Errorf("it says the same again:\n%s", said)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := loginChannel(t.Context(), n.a, "program", "other"); err == nil || !strings.Contains(err.Error(), "channels add program") {
		t.Errorf("an account that there is not: %v", err)
	}
}

// withProgram is the folder of a gateway that runs a shell script as its channel.
func withProgram(t *testing.T, text string) (home string) {
	t.Helper()
	home, own := t.TempDir(), t.TempDir()
	script := filepath.Join(own, "channel.sh")
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, _ := json.Marshal(map[string]any{"channels": map[string]any{"program": map[string]any{"command": []string{"/bin/sh", script}}}})
	if err := os.WriteFile(filepath.Join(home, "hearth.json"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	g, err := gateway.New(ctx, gateway.Options{
		Dir: statedir.Dir(home), Port: freePort(t), Version: "test", Guardian: []string{os.Args[0], os.Args[0], gateway.GuardianArg},
		Env: func(name string) string { return map[string]string{"HOME": own, "PATH": os.Getenv("PATH")}[name] },
	})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-served })
	waitReady(t, home)
	return home
}

// pictures asks as OpenClaw's clients do.
func pictures(ctx context.Context, c *client.Client) error {
	var l protocol.WebLogin
	if err := c.Call(ctx, protocol.MethodWebLoginStart, protocol.WebLoginStartParams{Force: true, TimeoutMs: 20_000}, &l); err != nil {
		return err
	}
	if !strings.HasPrefix(l.QRDataURL, "data:image/png;base64,") || l.Connected || l.Message != "Scan this." {
		return fmt.Errorf("the start of the login is %+v", l)
	}
	shown := l.QRDataURL
	for late := time.Now().Add(60 * time.Second); !l.Connected; {
		l = protocol.WebLogin{}
		p := protocol.WebLoginWaitParams{Channel: "program", AccountID: "default", TimeoutMs: 1000, CurrentQRDataURL: shown}
		if err := c.Call(ctx, protocol.MethodWebLoginWait, p, &l); err != nil {
			return err
		}
		if time.Now().After(late) {
			return fmt.Errorf("it is not connected: %+v", l)
		}
	}
	return nil
}

// comparing is a program that asks to compare emoji, and says what it was answered.
const comparing = taking + `  case "$line" in
  *'"start"'*)
    note ask '{"kind":"confirm","value":"Dog, Cat, Pig","text":"Is it the same?","expiresMs":60000}'
    note status '{"state":"receiving","problem":"somebody verifies it"}';;
  *'"confirm"'*'"yes":true'*) note status '{"state":"receiving","problem":"it heard yes"}';;
  *'"confirm"'*'"yes":false'*) note status '{"state":"receiving","problem":"it heard no"}';; esac
done
`

// TestChannelsLoginCompares: what an account asks to compare is shown, though it is connected, and
// the answer goes to it.
func TestChannelsLoginCompares(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is written for a Unix shell")
	}
	home := withProgram(t, comparing)
	for _, tc := range []struct{ typed, want string }{{"yes\n", "it heard yes"}, {"No\n", "it heard no"}, {"\n", ""}} {
		n := newAnswers(t, home, "")
		n.a.In = strings.NewReader(tc.typed)
		problem := func() string {
			var res protocol.ChannelsStatus
			if err := n.c.Call(t.Context(), protocol.MethodChannelsStatus, nil, &res); err != nil || len(res.ChannelAccounts["program"]) != 1 {
				t.Fatal(err, res)
			}
			return res.ChannelAccounts["program"][0].LastError
		}
		waitFor(t, func() bool { return problem() != "" && !strings.Contains(problem(), "starts") })
		err := loginChannel(t.Context(), n.a, "program", "default")
		if said := n.said.String(); (err == nil) != (tc.want != "") || !strings.Contains(said, "Is it the same?") ||
			!strings.Contains(said, "Dog, Cat, Pig") {
			t.Fatalf("%q: %v\n%s", tc.typed, err, said)
		}
		if tc.want != "" {
			waitFor(t, func() bool { return problem() == tc.want })
		}
	}
}

// deciding is a program that has a question when a person wants to log it in.
var deciding = strings.Replace(taking, "login='{}'",
	`login='{"kind":"decide","value":"EsTc LW2K","text":"Make keys?","expiresMs":60000}'`, 1) +
	`  case "$line" in
  *'"start"'*) note status '{"state":"receiving"}';;
  *'"confirm"'*'"value":"EsTc LW2K"'*'"yes":true'*) note status '{"state":"receiving","problem":"it makes keys"}';; esac
done
`

// TestChannelsLoginDecides: what an account asks only when a person wants to log it in is
// shown, and yes goes to it.
func TestChannelsLoginDecides(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is written for a Unix shell")
	}
	n := newAnswers(t, withProgram(t, deciding), "")
	n.a.In = strings.NewReader("yes\n")
	account := func() protocol.ChannelAccountStatus {
		var res protocol.ChannelsStatus
		if err := n.c.Call(t.Context(), protocol.MethodChannelsStatus, nil, &res); err != nil || len(res.ChannelAccounts["program"]) != 1 {
			t.Fatal(err, res)
		}
		return res.ChannelAccounts["program"][0]
	}
	waitFor(t, func() bool { return account().Connected })
	if err := loginChannel(t.Context(), n.a, "program", "default"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Make keys?", "EsTc LW2K", "Type yes or no", "It is done."} {
		if !strings.Contains(n.said.String(), want) {
			t.Errorf("%q is not in:\n%s", want, n.said)
		}
	}
	waitFor(t, func() bool { return account().LastError == "it makes keys" })
}

// waitFor waits until something holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(20*time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it did not happen")
		}
	}
}
