package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// testdata/explain.golden shows what people read for every class, for a
// service on the internet, one on this computer, and one of their own.
func TestExplain(t *testing.T) {
	claude, local, own := model.Ref{Provider: "anthropic", Model: "claude-x"}, model.Ref{Provider: "ollama", Model: "qwen3:8b"},
		model.Ref{Provider: "mine", Model: "m1"}
	classes := []model.Class{model.ClassAuth, model.ClassBilling, model.ClassRateLimit, model.ClassOverloaded, model.ClassServer,
		model.ClassTimeout,
		model.ClassConnect, model.ClassInterrupted, model.ClassMalformed, model.ClassEmpty, model.ClassContext, model.ClassNoModel,
		model.ClassRefusal, model.ClassInvalid, model.ClassUnknown}
	var b strings.Builder
	show := func(title string, err error, ref model.Ref) {
		msg, kind := provider.Explain(err, ref)
		fmt.Fprintf(&b, "%s [%s]\n    %s\n", title, kind, msg)
		if msg == "" || !strings.HasSuffix(msg, ".") || strings.Contains(msg, "..") || strings.Contains(msg, "  ") {
			t.Errorf("%s: badly written: %q", title, msg)
		}
	}
	for _, c := range classes {
		for _, ref := range []model.Ref{claude, local, own} {
			show(string(c)+" "+ref.String(), &model.Error{Class: c, Ref: ref}, ref)
		}
	}
	b.WriteString("\n")
	for _, c := range classes {
		show(string(c)+" with status and words", &model.Error{Class: c, Ref: claude, Status: 418, Detail: "I'm a teapot"}, claude)
	}
	b.WriteString("\n")
	for _, wait := range []time.Duration{time.Millisecond, 30 * time.Second, 10 * time.Minute, 5 * time.Hour} {
		show(fmt.Sprint("wait ", wait), &model.Error{Class: model.ClassRateLimit, Ref: claude, RetryAfter: wait}, claude)
	}
	show("wrong address", &model.Error{Class: model.ClassInvalid, Ref: own, Status: 404, Detail: "404 page not found"}, own)
	show("firewall", &model.Error{Class: model.ClassInvalid, Ref: claude, Status: 403, Detail: "a web page: Access denied"}, claude)
	show("words that end with a full stop", &model.Error{Class: model.ClassServer, Ref: claude, Detail: "Sorry about that."}, claude)
	show("wrapped, without a ref", fmt.Errorf("running: %w", &model.Error{Class: model.ClassEmpty}), local)
	show("cancelled", context.Canceled, claude)
	show("too long", fmt.Errorf("x: %w", context.DeadlineExceeded), claude)
	show("anything", errors.New("secret internals"), claude)
	show("anything, nobody", errors.New("secret internals"), model.Ref{})

	const path = "testdata/explain.golden"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if strings.Contains(b.String(), "secret internals") {
		t.Error("internals are shown")
	}
}

// The internet has no part in a server of this computer that is down.
func TestServersOfThisComputer(t *testing.T) {
	own := model.Ref{Provider: "mine", Model: "m1"}
	down := func(op string) error {
		return &model.Error{Class: model.ClassConnect, Ref: own, Err: &net.OpError{Op: op, Net: "tcp",
			Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9999}, Err: syscall.ECONNREFUSED}}
	}
	chain := &failover.SummaryError{Last: down("dial"), Attempts: []failover.Attempt{
		{Ref: own, Reason: failover.ReasonTimeout}, {Ref: model.Ref{Provider: "ollama", Model: "x"}, Reason: failover.ReasonTimeout}}}
	for what, err := range map[string]error{"one": down("dial"), "a chain": chain} {
		if said, _ := provider.Explain(err, own); strings.Contains(said, "internet") {
			t.Errorf("%s: %s", what, said)
		}
	}
	if said, _ := provider.Explain(down("proxyconnect"), own); !strings.Contains(said, "internet") {
		t.Error("behind a proxy of this computer is the internet:", said)
	}
}
