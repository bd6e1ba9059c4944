package secrets_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// A secret that Hearth keeps reaches no model and is repeated by none, wherever
// it was written; a person who pastes one is told so.
func TestSec_A_SEC_05_NeitherToModelsNorBack(t *testing.T) {
	const canary = "Canary-of-this-person-0001"
	var got strings.Builder
	h := scripted.New()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Body.Read(buf)
			body.Write(buf[:n])
			if err != nil {
				break
			}
		}
		got.WriteString(body.String())
		r.Body = http.NoBody
		if body.Len() > 0 {
			r.Body = readCloser{strings.NewReader(body.String())}
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	r := &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir()), Model: h, ModelURL: srv.URL}
	gatewaytest.WriteConfig(t, r.Dir, srv.URL, "chat/echo")
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	env := func(name string) string {
		if name == "MISTRAL_API_KEY" { // known from the start
			return canary
		}
		return ""
	}
	gw, err := gateway.New(ctx, gateway.Options{Dir: r.Dir, Env: env, Port: gatewaytest.FreePort(t), Version: "test"})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	r.Gateway, r.Stop, r.Served = gw, stop, make(chan error, 1)
	go func() { r.Served <- gw.Serve(ctx) }()
	t.Cleanup(r.Shutdown)

	p := r.Connect()
	p.Do(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "main"}, nil)
	end := p.Say("main", "a", "is "+canary+" a good key?")
	if !strings.Contains(got.String(), "is [redacted] a good key?") || strings.Contains(got.String(), canary) {
		t.Errorf("the model was sent %s", got.String())
	}
	if end.State != protocol.ChatFinal || strings.Contains(end.Message.Text(), canary) {
		t.Errorf("%+v", end)
	}
	p.Told("hearth secrets set")
	if m := p.History("main").Messages[0]; m.Text() != "is "+canary+" a good key?" {
		t.Errorf("the person's own words became %q", m.Text())
	}

	// A model that knows a key and says it, in pieces: nobody is shown it.
	shaped := "sk-" + strings.Repeat("a1b2c3", 6)
	p.Send("other", "b", "say "+shaped+" twice: "+shaped)
	if end = p.Ended("b"); strings.Contains(end.Message.Text(), "a1b2c3") || !strings.Contains(end.Message.Text(),
		"say [redacted] twice: [redacted]") {
		t.Errorf("shown: %q", end.Message.Text())
	}
	for _, ev := range p.ChatEvents("b") {
		if strings.Contains(ev.DeltaText, "a1b2") {
			t.Errorf("a delta: %q", ev.DeltaText)
		}
	}
	if !strings.Contains(got.String(), shaped) {
		t.Error("what only looks like a key did not reach the model")
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// Keys of the environment are taken over only on request, and said to be.
func TestModelsAuthImport_environment(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	var pe *protocol.Error
	err := p.Call(t.Context(), protocol.MethodModelsAuthImport, protocol.ModelsAuthImportParams{ID: "env"}, nil)
	if !errors.As(err, &pe) || !strings.Contains(pe.Message, "no key of a model service") {
		t.Errorf("%v", err)
	}
	r.Shutdown()

	const key = "sk-Environment-aa11bb22cc33"
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte("a passphrase of this test"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		return map[string]string{"MISTRAL_API_KEY": key, "HEARTH_VAULT_PASSPHRASE_FILE": pass}[name]
	}
	gw, err := gateway.New(ctx, gateway.Options{Dir: r.Dir, Env: env, Port: gatewaytest.FreePort(t), Version: "test", Now: time.Now})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	r.Gateway, r.Stop, r.Served = gw, stop, make(chan error, 1)
	go func() { r.Served <- gw.Serve(ctx) }()
	p = r.Connect()
	var res protocol.ModelsAuthSetKeyResult
	p.Do(protocol.MethodModelsAuthImport, protocol.ModelsAuthImportParams{ID: "env"}, &res)
	if len(res.Imported) != 1 || res.Imported[0] != "mistral:imported" || res.Stored != "vault" || res.Warning == "" {
		t.Errorf("%+v", res)
	}
	var st protocol.ModelsAuthStatus
	p.Do(protocol.MethodModelsAuthStatus, nil, &st)
	found := false
	for _, x := range st.Providers {
		for _, a := range x.Profiles {
			found = found || a.ProfileID == "mistral:imported" && a.Source == "stored"
		}
	}
	if !found {
		t.Errorf("%+v", st.Providers)
	}
}
