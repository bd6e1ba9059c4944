package messaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk/nextcloudtalktest"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	talkPath   = "/channels/nextcloud-talk/default"
	talkSecret = "0123456789abcdef0123456789abcdef0123456789abcdef"
)

// talking is the real gateway, with its programs, and a Nextcloud server.
type talking struct {
	*gatewaytest.Victim
	t     *testing.T
	c     *client.Client
	cloud *nextcloudtalktest.Server
}

// onTalk is a gateway that gets an account on a Nextcloud server while it runs.
func onTalk(t *testing.T) *talking {
	t.Helper()
	v := gatewaytest.NewVictim(t, "chat/echo")
	gatewaytest.Channels(t)
	v.Start("")
	n := &talking{Victim: v, t: t, c: v.Dial(t.Context(), func(protocol.Event) {}),
		cloud: nextcloudtalktest.New(t.Context(), talkSecret, talkPath)}
	t.Cleanup(func() { _ = n.c.Close() })
	t.Cleanup(n.cloud.Close)
	n.cloud.AddRoom("n3xtc10ud", 1)
	n.patch(map[string]any{"baseUrl": n.cloud.URL(), "botSecret": talkSecret, "apiUser": nextcloudtalktest.User,
		"apiPassword": nextcloudtalktest.Password, "allowFrom": []string{"ada"}})
	told := ""
	gatewaytest.WaitFor(t, "the account", func() bool {
		var st protocol.ChannelsStatus
		n.do(protocol.MethodChannelsStatus, nil, &st)
		acc := st.ChannelAccounts["nextcloud-talk"]
		if len(acc) == 1 && acc[0].LastError != told {
			told = acc[0].LastError
			t.Log(told)
		}
		return len(acc) == 1 && acc[0].Connected
	})
	return n
}

func (n *talking) do(method string, params, result any) {
	n.t.Helper()
	if err := n.c.Call(n.t.Context(), method, params, result); err != nil {
		n.t.Fatal(err)
	}
}

// patch sets the network's settings; nil takes them away.
func (n *talking) patch(account any) {
	n.t.Helper()
	raw, err := json.Marshal(map[string]any{"channels": map[string]any{"nextcloud-talk": account}})
	if err != nil {
		n.t.Fatal(err)
	}
	n.do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw)}, nil)
}

// history is what stands in the main conversation.
func (n *talking) history() []protocol.Message {
	n.t.Helper()
	var h protocol.ChatHistory
	n.do(protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main"}, &h)
	return h.Messages
}

// call sends what a network does, as it comes out of a tunnel: to another name, with
// the marks of proxies.
func (n *talking) call(c channel.Call, change func(*http.Request)) (int, string) {
	n.t.Helper()
	address := fmt.Sprintf("http://127.0.0.1:%d%s", n.Port, c.Path)
	req, err := http.NewRequestWithContext(n.t.Context(), c.Method, address, bytes.NewReader(c.Body))
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header = c.Header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Host = "hearth.example.org"
	req.Header.Set("X-Forwarded-For", "203.0.113.7")
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// TestCalledNetwork: an account that the settings get while Hearth runs is called by its
// network, which hears that a message was taken when it is on disk, and is answered
// there. The same message again is taken once.
func TestCalledNetwork(t *testing.T) {
	n := onTalk(t)
	said := n.cloud.Body(nextcloudtalktest.Said{Token: "n3xtc10ud", ID: "5", Actor: "users/ada", Name: "Ada", Text: "hello from the cloud"})
	for range 3 {
		if code, body := n.call(n.cloud.Sign(said), nil); code != http.StatusOK {
			t.Fatal(code, body)
		}
	}
	gatewaytest.WaitFor(t, "an answer", func() bool {
		got := n.cloud.Sent()
		return len(got) > 0 && strings.Contains(got[0].Text, "hello from the cloud")
	})
	later := n.cloud.Body(nextcloudtalktest.Said{Token: "n3xtc10ud", ID: "6", Actor: "users/ada", Name: "Ada", Text: "and again"})
	if code, body := n.call(n.cloud.Sign(later), nil); code != http.StatusOK {
		t.Fatal(code, body)
	}
	gatewaytest.WaitFor(t, "its answer", func() bool { return len(n.cloud.Sent()) > 1 })
	if got := n.cloud.Sent(); len(got) != 2 || !strings.Contains(got[1].Text, "and again") {
		t.Errorf("three times the same message and another one were answered with %+v", got)
	}
	// Without its settings nobody is called.
	n.patch(nil)
	gatewaytest.WaitFor(t, "its end", func() bool { code, _ := n.call(n.cloud.Sign(said), nil); return code == http.StatusNotFound })
}

// TestSec_A_WEB_01_CallsOfNetworks: no page calls where networks do, what is not proven
// or too large leaves nothing, and nothing else is behind the name of a tunnel.
func TestSec_A_WEB_01_CallsOfNetworks(t *testing.T) {
	n := onTalk(t)
	right := n.cloud.Sign(n.cloud.Body(nextcloudtalktest.Said{Token: "n3xtc10ud", ID: "5", Actor: "users/ada", Name: "Ada", Text: "x"}))
	forged := right
	forged.Body = bytes.Replace(right.Body, []byte("Ada"), []byte("Eve"), 1)
	at := func(path string) channel.Call { c := right; c.Path = path; return c }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	large := n.cloud.Sign(bytes.Repeat([]byte(" "), 1<<20+1))
	for name, tc := range map[string]struct {
		call   channel.Call
		change func(*http.Request)
		want   int
	}{
		"forged":            {forged, nil, http.StatusUnauthorized},
		"a page":            {right, header("Origin", "https://evil.example"), http.StatusForbidden},
		"a page, fetching":  {right, header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"a socket":          {right, header("Upgrade", "websocket"), http.StatusForbidden},
		"too large":         {large, nil, http.StatusRequestEntityTooLarge},
		"another account":   {at("/channels/nextcloud-talk/other"), nil, http.StatusNotFound},
		"another network":   {at("/channels/telegram/default"), nil, http.StatusNotFound},
		"below the account": {at("/channels/nextcloud-talk/default/x"), nil, http.StatusNotFound},
		"no network":        {at("/channels/"), nil, http.StatusNotFound},
		"a strange path":    {at("/channels/nextcloud-talk/%2e%2e"), nil, http.StatusBadRequest},
		"many headers":      {right, header("X-Long", strings.Repeat("x", 20<<10)), http.StatusRequestHeaderFieldsTooLarge},
		"the page":          {channel.Call{Method: http.MethodGet, Path: "/"}, nil, http.StatusMisdirectedRequest},
		"the API":           {channel.Call{Method: http.MethodPost, Path: "/api/x"}, nil, http.StatusMisdirectedRequest},
	} {
		if code, body := n.call(tc.call, tc.change); code != tc.want {
			t.Errorf("%s: %d %.100s, want %d", name, code, body, tc.want)
		} else if name == "forged" && !strings.Contains(body, "Only Nextcloud Talk calls here, and proves it") {
			t.Errorf("%s", body)
		}
	}
	if h := n.history(); len(h) != 0 || len(n.cloud.Sent()) != 0 {
		t.Errorf("something was left: %+v %+v", h, n.cloud.Sent())
	}
}
