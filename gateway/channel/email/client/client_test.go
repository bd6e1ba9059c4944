package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-message/mail"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/channel/email/client"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

func account(s *server, change func(*channel.Account)) channel.Account {
	a := channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Secrets: map[string]string{email.KeyPassword: "secret"},
		Texts: map[string]string{
			email.KeyAddress: own, email.KeyUser: "me", email.KeyIMAPHost: "127.0.0.1", email.KeySMTPHost: "127.0.0.1",
			email.KeyIMAPPort: port(s.imap), email.KeySMTPPort: port(s.smtp), email.KeyTLS: "false",
		},
	}
	if change != nil {
		change(&a)
	}
	return a
}

func open(t *testing.T, s *server, change func(*channel.Account)) *client.Client {
	t.Helper()
	c, err := client.New(account(s, change))
	if err != nil {
		t.Fatal(err)
	}
	c.Texts(s.texts)
	return c
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	s, files, kept := newServer(t), &channeltest.Files{}, &durable{kept: map[string][]byte{}}
	mail := func() channel.Channel {
		return open(t, s, func(a *channel.Account) { a.OpenFile, a.MaxFile, a.Durable = files.Open, 1<<20, kept })
	}
	return &channeltest.Setup{
		Channel: mail(), Net: s, Connected: true, Waits: 60 * time.Second, Files: files, Again: mail,
		Target:  channel.Target{Account: "default", Conversation: "ada@example.com"},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "ada@example.com", SenderID: "ada@example.com"},
		NextID:  func(n int) string { return fmt.Sprintf("m%d@example.com", n) },
		Skip:    map[loopback.Kind]string{loopback.Limited: "a server says no time"},
		Cannot:  map[string]string{"SendWithoutConnection": "each mail is sent over a connection of its own"},
	}
}

func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

// running runs a client, waits until it receives, and hands over what comes.
func running(t *testing.T, c *client.Client) (got <-chan channel.Inbound, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, done := make(chan channel.Inbound, 64), make(chan struct{})
	go func() {
		defer close(done)
		if err := c.Run(ctx, func(_ context.Context, m channel.Inbound) error { in <- m; return nil }); err != nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	until(t, "connecting", func() bool { return c.Status().State == channel.Receiving })
	return in, stop
}

func say(t *testing.T, c channel.Channel, to string) error {
	_, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: to}, Text: "x"})
	return err
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(60*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(what, "did not happen")
		}
	}
}

var last string

func next(t *testing.T, got <-chan channel.Inbound) channel.Inbound {
	t.Helper()
	select {
	case in := <-got:
		return in
	case <-time.After(60 * time.Second):
		t.Fatal("nothing came after", last)
		return channel.Inbound{}
	}
}

// TestSec_A_CH_ForgedSender: From is what anybody can write. Only a signature of its
// domain, or our own server's word, makes it somebody; the others are not handed over,
// and stay unread.
func TestSec_A_CH_ForgedSender(t *testing.T) {
	s := newServer(t)
	c := open(t, s, func(a *channel.Account) { a.Texts[email.KeyResults] = "mx.example.org" })
	got, _ := running(t, c)
	ada := "Ada <ada@example.com>"
	said := func(by, words string) string { return "Authentication-Results: " + by + "; " + words + "\r\n" }
	good := s.signed(letter("g@x", ada, "", "x"), "example.com")
	forged := map[string]string{
		"no signature":            letter("1@x", ada, "", "forged"),
		"another's signature":     s.signed(letter("2@x", ada, "", "forged"), "thief.example"),
		"a signature without key": s.signed(letter("3@x", "ada@unkeyed.example", "", "forged"), "unkeyed.example"),
		"a changed text":          strings.Replace(good, "\r\n\r\nx\r\n", "\r\n\r\nforged\r\n", 1),
		"two senders":             s.signed(letter("5@x", ada+", eve@thief.example", "", "forged"), "example.com"),
		"two From":                "From: eve@thief.example\r\n" + s.signed(letter("6@x", ada, "", "forged"), "example.com"),
		"a signed letter to somebody else": s.signed(strings.Replace(letter("7@x", ada, "", "forged"), "To: "+own, "To: bob@example.com", 1),
			"example.com"),
		"an old letter": s.signed(strings.Replace(letter("8@x", ada, "", "forged"), "Date: "+time.Now().Format("Mon, 02 Jan 2006"),
			"Date: Mon, 02 Jan 2006", 1), "example.com"),
		"an unsigned id":        s.signed(letter("9@x", ada, "", "forged"), "example.com", "From", "To", "Date"),
		"another server's word": said("mx.thief.example", "dkim=pass header.d=example.com") + letter("10@x", ada, "", "forged"),
		"our server's name below another": said("mx.thief.example", "none") + said("mx.example.org", "dmarc=pass header.from=example.com") +
			letter("11@x", ada, "", "forged"),
		"our server's word of another": said("mx.example.org", "dkim=pass header.d=thief.example; spf=pass smtp.mailfrom=ada@example.com") +
			letter("12@x", ada, "", "forged"),
		"our server's no": said("mx.example.org", "dmarc=fail header.from=example.com") + letter("13@x", ada, "", "forged"),
		"a public suffix": s.signed(letter("14@x", "ada@example.co.uk", "", "forged"), "thief.co.uk"),
	}
	for name, raw := range forged {
		s.arrive(raw)
		last = name
		proof := s.signed(letter("after-"+strings.ReplaceAll(name, " ", "-")+"@x", ada, "", "after "+name), "example.com")
		s.arrive(proof)
		if in := next(t, got); in.Text != "after "+name {
			t.Errorf("%s: %+v was handed over", name, in)
			next(t, got)
		}
	}
	for id := range map[string]bool{"1@x": true, "2@x": true, "12@x": true} {
		if s.Taken(id) {
			t.Errorf("%s is marked as read", id)
		}
	}
	for name, raw := range map[string]string{
		"a signature":           s.signed(letter("a@x", ada, "", "true"), "example.com"),
		"of the whole domain":   s.signed(letter("b@x", "ADA@mail.Example.com", "", "true"), "example.com"),
		"our server's word":     said("mx.example.org", "spf=pass; dmarc=pass header.from=example.com") + letter("c@x", ada, "", "true"),
		"our server's own DKIM": said("mx.example.org", "dkim=pass header.d=example.com") + letter("d@x", ada, "", "true"),
	} {
		s.arrive(raw)
		if in := next(t, got); in.Text != "true" || in.SenderID != "ada@example.com" && in.SenderID != "ada@mail.example.com" ||
			in.Conversation != in.SenderID || in.Chat != channel.Direct {
			t.Errorf("%s: %+v", name, in)
		}
	}
	if st := c.Status(); !strings.Contains(st.Problem, "14 messages were left unread") {
		t.Errorf("%+v", st)
	}
}

// TestSec_A_CH_RobotsDoNotLoop: what programs send is not answered, and what we send
// says that a program did.
func TestSec_A_CH_RobotsDoNotLoop(t *testing.T) {
	s := newServer(t)
	c := open(t, s, nil)
	got, _ := running(t, c)
	for name, h := range map[string]string{
		"an absence": "Auto-Submitted: auto-replied\r\n", "a list": "List-Id: <x.example.com>\r\n", "bulk": "Precedence: bulk\r\n",
		"a bounce": "Content-Type: multipart/report; boundary=x\r\n",
	} {
		s.arrive(s.signed(letter("x@example.com", "ada@example.com", h, name), "example.com"))
	}
	s.arrive(s.signed(letter("y@example.org", own, "", "our own"), "example.org"))
	s.arrive(s.signed(letter("z@example.com", "no-reply@example.com", "", "nobody"), "example.com"))
	s.arrive(s.signed(letter("1@example.com", "ada@example.com", "Auto-Submitted: no\r\n", "a person"), "example.com"))
	if in := next(t, got); in.Text != "a person" {
		t.Errorf("%+v", in)
	}
	if _, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: "ada@example.com"}, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if h := s.header(t, 0); h.Get("Auto-Submitted") != "auto-replied" {
		t.Errorf("%v", h)
	}
}

// header is that of a mail that was sent.
func (s *server) header(t *testing.T, n int) mail.Header {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.raw) {
		t.Fatalf("only %d mails were sent", len(s.raw))
	}
	r, err := mail.CreateReader(strings.NewReader(string(s.raw[n])))
	if err != nil {
		t.Fatal(err)
	}
	return r.Header
}

// durable keeps values in memory.
type durable struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (d *durable) Get(_ context.Context, key string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[key], nil
}

func (d *durable) Put(_ context.Context, key string, value []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[key] = value
	return nil
}

// TestThread: an answer stands below the mail that it answers, also after a restart;
// what was there before is not read, what came meanwhile is; a repeated message is
// known for one.
func TestThread(t *testing.T) {
	s := newServer(t)
	d := &durable{kept: map[string][]byte{}}
	with := func(a *channel.Account) { a.Durable = d }
	s.arrive(s.signed(letter("old@example.com", "ada@example.com", "", "before"), "example.com"))
	c := open(t, s, with)
	got, stop := running(t, c)
	s.arrive(s.signed(letter("q@example.com", "Ada <ada@example.com>", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n", "/status"), "example.com"))
	in := next(t, got)
	if in.Text != "Grüße\n\n/status" || in.Command != "/status" || in.SenderName != "Ada" {
		t.Errorf("%+v", in)
	}
	until(t, "marking it", func() bool { return s.Taken("q@example.com") })
	stop()
	s.arrive(s.signed(letter("r@example.com", "ada@example.com",
		"Subject: Re: more\r\nReferences: <a@example.com> <b@example.com>\r\nIn-Reply-To: <b@example.com>\r\n",
		"And this?\r\n\r\nOn Monday, 1 June, Hearth\r\nwrote:\r\n> the words\r\n> before"), "example.com"))
	c = open(t, s, with)
	got, _ = running(t, c)
	if in := next(t, got); in.Text != "And this?" || in.ReplyToText != "the words\nbefore" || in.MessageID != "r@example.com" {
		t.Errorf("%+v", in)
	}
	for _, to := range []channel.Target{
		{Conversation: "ada@example.com", ReplyTo: "q@example.com"}, {Conversation: "ada@example.com"}, {Conversation: "bob@example.com"},
	} {
		for range 2 {
			if _, err := c.Send(t.Context(), channel.Message{To: to, Text: "**Answer**\n\nmore", Key: "k"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n, want := range []string{
		"Re: Grüße | <q@example.com> | <q@example.com>",
		"Re: more | <r@example.com> | <a@example.com> <b@example.com> <b@example.com> <r@example.com>",
		"Answer more |  | ",
	} {
		h, again := s.header(t, 2*n), s.header(t, 2*n+1)
		subject, _ := h.Subject()
		if got := subject + " | " + h.Get("In-Reply-To") + " | " + h.Get("References"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if h.Get("Message-Id") != again.Get("Message-Id") {
			t.Errorf("%q is sent again as %q", h.Get("Message-Id"), again.Get("Message-Id"))
		}
	}
}

// TestFiles: files come and go.
func TestFiles(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	c := open(t, s, func(a *channel.Account) { a.OpenFile = opener(t, dir, "plan.txt", "the plan") })
	got, _ := running(t, c)
	s.arrive(s.signed(letter("f@example.com", "ada@example.com", "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n",
		"--b\r\nContent-Type: text/plain\r\n\r\nlook\r\n--b\r\nContent-Type: image/png\r\n"+
			"Content-Disposition: attachment; filename=\"a.png\"\r\n"+
			"Content-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--b--"), "example.com"))
	in := next(t, got)
	if in.Text != "look" || len(in.Media) != 1 || in.Media[0].Name != "a.png" || in.Media[0].MIME != "image/png" || in.Media[0].Size != 5 {
		t.Fatalf("%+v", in)
	}
	f, err := c.Fetch(t.Context(), in.Media[0])
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(f); string(b) != "hello" {
		t.Errorf("%q", b)
	}
	for _, url := range []string{"", "1/2", "a/b/c", "1/9/0", in.Media[0].URL + "9"} {
		if _, err := c.Fetch(t.Context(), channel.Media{URL: url}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
	}
	_, err = c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: "ada@example.com"}, Text: "here",
		Media: []channel.Media{{Name: "plan.txt", MIME: "text/plain", URL: "plan.txt"}}})
	m := s.Messages()
	if err != nil || len(m) != 1 || len(m[0].Files) != 1 || string(m[0].Files[0].Content) != "the plan" || m[0].Text != "here" {
		t.Errorf("%v %+v", err, m)
	}
}

// TestSec_A_CH_HeaderInjection: nothing that others write becomes a header or a
// recipient.
func TestSec_A_CH_HeaderInjection(t *testing.T) {
	s := newServer(t)
	c := open(t, s, nil)
	got, _ := running(t, c)
	s.arrive(s.signed(letter("i@example.com", "ada@example.com",
		"Subject: =?utf-8?q?hi=0D=0ABcc:_eve@thief.example?=\r\nReferences: <a@b\x01c> <x\r\n >\r\n", "x"), "example.com"))
	next(t, got)
	for _, to := range []string{
		"", "ada", "ada@localhost", "a@b.c\r\nRCPT TO:<eve@thief.example>", "Ada <ada@example.com>", "a@b.c, d@e.f", own, "ä@b.c",
	} {
		if err := say(t, c, to); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", to, err)
		}
	}
	for _, reply := range []string{"", "x\r\nBcc: eve@thief.example"} {
		to := channel.Target{Conversation: "ada@example.com", ReplyTo: reply}
		m := channel.Message{To: to, Text: "x\r\n.\r\nMAIL FROM:<eve@thief.example>", Key: "k\r\nBcc: e@e.e"}
		if _, err := c.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for n, m := range s.Messages() {
		h := s.header(t, n)
		if h.Has("Bcc") || m.To.Conversation != "ada@example.com" || !strings.Contains(m.Text, "MAIL FROM") {
			t.Errorf("%+v %+v", h, m)
		}
	}
}

// TestFault_F_CH_MailServer: what the servers' faults mean.
func TestFault_F_CH_MailServer(t *testing.T) {
	s := newServer(t)
	c := open(t, s, nil)
	s.Script(loopback.Fault{Kind: loopback.Broken})
	if err := say(t, c, "a@b.c"); !errors.Is(err, channel.ErrUncertain) {
		t.Errorf("a connection that breaks after the message: %v", err)
	}
	if err := say(t, c, "nobody@b.c"); !errors.Is(err, channel.ErrRefused) ||
		!strings.Contains(err.Error(), "no such mailbox") {
		t.Errorf("to nobody: %v", err)
	}
	wrong := open(t, s, func(a *channel.Account) { a.Secrets[email.KeyPassword] = "canary" })
	if err := wrong.Run(t.Context(), nil); !errors.Is(err, channel.ErrAuth) || strings.Contains(err.Error(), "canary") {
		t.Errorf("a wrong password: %v", err)
	}
	if err := say(t, wrong, "a@b.c"); !errors.Is(err, channel.ErrAuth) {
		t.Errorf("a wrong password: %v", err)
	}
	gone := open(t, s, func(a *channel.Account) { a.Texts[email.KeySMTPPort], a.Texts[email.KeyIMAPPort] = "1", "1" })
	err := say(t, gone, "a@b.c")
	if err == nil || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrAuth) {
		t.Errorf("no server: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- gone.Run(ctx, nil) }()
	until(t, "saying so", func() bool { return strings.Contains(gone.Status().Problem, "tries again") })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	s.silent = 1
	s.mu.Unlock()
	got, _ := running(t, c)
	s.Receive(channel.Inbound{Conversation: "ada@example.com", MessageID: "m@example.com", Text: "x"})
	if in := next(t, got); in.Text != "x" {
		t.Errorf("after a name service that did not answer: %+v", in)
	}
}

// TestKind: what the gateway knows of it.
func TestKind(t *testing.T) {
	k := email.Kind()
	// The program is not beside this one.
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) }
	right := channel.Account{
		ID: "work", Secrets: map[string]string{email.KeyPassword: "x"},
		Texts: map[string]string{email.KeyAddress: own, email.KeyIMAPHost: "imap.example.org", email.KeySMTPHost: "smtp.example.org"},
	}
	channeltest.Kind(t, k, right, nil, []string{"ada@example.com", ""})
	for key, wrong := range map[string]string{
		email.KeyAddress: "hearth", email.KeyIMAPHost: "", email.KeySMTPHost: "", email.KeyTLS: "false",
	} {
		a := right
		a.Texts = map[string]string{key: wrong}
		for k, v := range right.Texts {
			if k != key {
				a.Texts[k] = v
			}
		}
		if err := email.Check(a); err == nil {
			t.Errorf("%s %q is right", key, wrong)
		}
	}
}
