package tailscale

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const on = `{"BackendState":"Running","Self":{"DNSName":"Attic.tail1234.ts.net.","Online":true}}`

func serves(target string, more string) string {
	return `{"TCP":{"443":{"HTTPS":true}},"Web":{"attic.tail1234.ts.net:443":{"Handlers":{"/":{"Proxy":"` + target + `"}}}}` + more + `}`
}

func TestState(t *testing.T) {
	const name = "attic.tail1234.ts.net"
	for what, c := range map[string]struct {
		status, serve string
		want          Status
	}{
		"not on":              {`{"BackendState":"Stopped","Self":{"DNSName":"attic.tail1234.ts.net."}}`, "", Status{}},
		"logged out":          {`{"BackendState":"NeedsLogin"}`, "", Status{}},
		"damaged":             {`{"BackendState":`, "", Status{}},
		"a name that is none": {`{"BackendState":"Running","Self":{"DNSName":"a b;c.ts.net."}}`, "", Status{}},
		"on":                  {on, "{}", Status{Name: name}},
		"nothing said":        {on, "", Status{Name: name}},
		"damaged serve":       {on, "{", Status{Name: name}},
		"served":              {on, serves("http://127.0.0.1:18789", ""), Status{Name: name, Host: name}},
		"by localhost":        {on, serves("http://localhost:18789/", ""), Status{Name: name, Host: name}},
		"another port of it": {on, strings.ReplaceAll(serves("http://127.0.0.1:18789", ""), ":443\"", ":8443\""),
			Status{Name: name, Host: name + ":8443"}},
		"another program": {on, serves("http://127.0.0.1:3000", ""), Status{Name: name}},
		"another machine": {on, serves("http://192.168.1.9:18789", ""), Status{Name: name}},
		"a part of it":    {on, serves("http://127.0.0.1:18789/phone", ""), Status{Name: name}},
		"another name":    {on, strings.ReplaceAll(serves("http://127.0.0.1:18789", ""), "attic.", "cellar."), Status{Name: name}},
		"open to the world": {on, serves("http://127.0.0.1:18789", `,"AllowFunnel":{"attic.tail1234.ts.net:443":true}`),
			Status{Name: name, Public: true}},
	} {
		w := New(Options{Port: 18789, Run: func(_ context.Context, args ...string) ([]byte, error) {
			if args[0] == "status" {
				return []byte(c.status), nil
			}
			return []byte(c.serve), nil
		}})
		if diff := cmp.Diff(c.want, w.State(t.Context())); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// The program is asked at most once a minute, and its absence is no error.
func TestAskedRarely(t *testing.T) {
	asked, now := 0, time.Unix(1e9, 0)
	w := New(Options{Port: 1, Now: func() time.Time { return now }, Run: func(context.Context, ...string) ([]byte, error) {
		asked++
		return nil, errors.New("not installed")
	}})
	for range 5 {
		if s := w.State(t.Context()); s != (Status{}) {
			t.Fatalf("%+v", s)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	now = now.Add(believed)
	w.State(t.Context())
	w.Forget()
	w.State(t.Context())
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

func FuzzServe(f *testing.F) {
	f.Add(serves("http://127.0.0.1:18789", ""))
	f.Add(`{"Web":null,"AllowFunnel":{}}`)
	f.Fuzz(func(t *testing.T, s string) {
		st, _ := parseServe([]byte(s), "attic.tail1234.ts.net", 18789)
		if st.Host != "" && !strings.HasPrefix(st.Host, "attic.tail1234.ts.net") {
			t.Errorf("%+v", st)
		}
		name, _ := parseStatus([]byte(s))
		if name != "" && !isName(name) {
			t.Error(name)
		}
	})
}
