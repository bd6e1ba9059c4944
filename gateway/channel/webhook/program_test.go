package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/secret"
	signature "github.com/hearth-assistant/hearth/gateway/webhook"
)

const testKey = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"

// program is one that sends and takes signed requests. It refuses what is not
// signed, takes each Webhook-Id once, and plays faults.
type program struct {
	t  *testing.T
	at *httptest.Server

	mu       sync.Mutex
	to       http.Handler // of the gateway
	waiting  []channel.Inbound
	taken    map[string]bool
	script   []loopback.Fault
	messages []loopback.Message
	keys     map[string]string // message ids by Webhook-Id
	typed    int
	more     chan struct{}
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{t: t, taken: map[string]bool{}, keys: map[string]string{}, more: make(chan struct{}, 1)}
	p.at = httptest.NewServer(p)
	t.Cleanup(p.at.Close)
	done := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { p.deliver(done) })
	t.Cleanup(func() { close(done); work.Wait() })
	return p
}

// account is what the gateway is told of the program.
func (p *program) account(texts map[string]string) channel.Account {
	all := map[string]string{keyAddress: p.at.URL, keyCan: "edit\ndelete\ntyping\nreact"}
	for k, v := range texts {
		all[k] = v
	}
	return channel.Account{ID: "default", Secrets: map[string]string{keySecret: testKey}, Texts: all, Now: time.Now}
}

func (p *program) open(t *testing.T, texts map[string]string) *Endpoint {
	t.Helper()
	ch, err := open(p.account(texts))
	if err != nil {
		t.Fatal(err)
	}
	c := ch.(*Endpoint)
	_, h, _ := c.Webhook()
	p.mu.Lock()
	p.to = h
	p.mu.Unlock()
	return c
}

// signed posts a body as the program does and is the status of the answer.
func signed(h http.Handler, id string, body []byte) int {
	head, err := signature.Sign(secret.New(testKey), id, body, time.Now())
	if err != nil {
		return 0
	}
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	r.Header = head
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// deliver sends what people wrote, one after the other, each until it is taken.
func (p *program) deliver(done <-chan struct{}) {
	for {
		p.mu.Lock()
		h, n := p.to, len(p.waiting)
		var in channel.Inbound
		if n > 0 {
			in = p.waiting[0]
		}
		p.mu.Unlock()
		pause := time.Hour
		if n > 0 && h != nil {
			body, _ := json.Marshal(arrived{
				ID: in.MessageID, Conversation: in.Conversation, Thread: in.Thread, SenderID: in.SenderID, SenderName: in.SenderName,
				Text: in.Text, AtMs: in.At.UnixMilli(),
			})
			if signed(h, "in-"+in.MessageID, body) == http.StatusAccepted {
				p.mu.Lock()
				p.taken[in.MessageID], p.waiting = true, p.waiting[1:]
				p.mu.Unlock()
				continue
			}
			pause = 5 * time.Millisecond
		}
		select {
		case <-done:
			return
		case <-p.more:
		case <-time.After(pause):
		}
	}
}

func (p *program) Receive(in channel.Inbound) {
	p.mu.Lock()
	p.waiting = append(p.waiting, in)
	p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
}

func (p *program) Taken(id string) bool { p.mu.Lock(); defer p.mu.Unlock(); return p.taken[id] }

func (p *program) Script(faults ...loopback.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = append(p.script, faults...)
}

func (p *program) Messages() (out []loopback.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.messages {
		if !m.Deleted {
			out = append(out, m)
		}
	}
	return out
}

// ops are the requests of the suite by the types of ours.
var ops = map[string]loopback.Op{
	"message": loopback.OpSend, "edit": loopback.OpEdit, "delete": loopback.OpDelete, "typing": loopback.OpTyping, "react": loopback.OpReact,
}

// ServeHTTP takes what Hearth says.
func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	scheme := signature.Scheme{Kind: signature.Standard, Secret: secret.New(testKey)}
	if _, err := signature.Verify(scheme, r.Header, body, time.Now()); err != nil {
		p.t.Errorf("%v: %s", err, body)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var s said
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || s.Account != "default" || s.Conversation == "" || ops[s.Type] == "" {
		p.t.Errorf("%v: %s", err, body)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.script, func(f loopback.Fault) bool { return f.On == loopback.OpAny || f.On == ops[s.Type] })
	var f loopback.Fault
	if i >= 0 {
		f = p.script[i]
		p.script = slices.Delete(p.script, i, i+1)
	}
	switch f.Kind {
	case loopback.Passing:
		w.WriteHeader(http.StatusInternalServerError)
		return
	case loopback.Limited:
		w.Header().Set("Retry-After", strconv.FormatFloat(f.After.Seconds(), 'f', -1, 64))
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case loopback.Refused:
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	case loopback.Auth:
		w.WriteHeader(http.StatusForbidden)
		return
	case loopback.Broken:
		panic(http.ErrAbortHandler)
	}
	if f.After > 0 {
		p.mu.Unlock()
		select {
		case <-time.After(f.After):
		case <-r.Context().Done():
		}
		p.mu.Lock()
	}
	id, ok := p.do(s, r.Header.Get("Webhook-Id"))
	if f.Kind == loopback.Lost {
		panic(http.ErrAbortHandler)
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = fmt.Fprintf(w, `{"messageId": %q}`, id)
}

// do is called with p.mu held.
func (p *program) do(s said, key string) (messageID string, ok bool) {
	if s.Type == "typing" {
		p.typed++
		return "", true
	}
	if s.Type == "message" {
		if id := p.keys[key]; id != "" {
			return id, true
		}
		m := loopback.Message{ID: fmt.Sprint(len(p.messages) + 1), Text: s.Text, Key: key,
			To: channel.Target{Account: s.Account, Conversation: s.Conversation, Thread: s.Thread, ReplyTo: s.ReplyTo}}
		p.messages = append(p.messages, m)
		p.keys[key] = m.ID
		return m.ID, true
	}
	i := slices.IndexFunc(p.messages, func(m loopback.Message) bool { return m.ID == s.MessageID && !m.Deleted })
	if i < 0 {
		return "", false
	}
	switch m := &p.messages[i]; s.Type {
	case "edit":
		m.Text = s.Text
	case "delete":
		m.Deleted = true
	case "react":
		if m.Reactions = nil; s.Emoji != "" {
			m.Reactions = []string{s.Emoji}
		}
	}
	return "", true
}
