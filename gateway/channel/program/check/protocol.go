package check

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

// row is one thing that the protocol says.
type row struct {
	name, what, do string
	run            func(*trial, Options)
	first          bool // without it nothing else can be tried
}

// protocolRows are all of them; offers is told whether there is a test network.
func protocolRows(offers *bool) []row {
	return []row{
		{name: "Handshake", what: "it answers initialize with protocol, name, version and limits", first: true,
			do: "write one line of JSON for each message, flush it, and nothing else on standard output; log on standard error",
			run: func(t *trial, o Options) {
				r, err := begin(t, o).initialize(wire.Version)
				if err != nil {
					t.Fatalf("initialize: %v", err)
				}
				if r.Protocol != wire.Version || r.Name == "" || r.Version == "" {
					t.Errorf("it says protocol %d, name %q and version %q; want protocol %d and both others", r.Protocol, r.Name, r.Version, wire.Version)
				}
				*offers = r.Test
			}},
		{name: "Limits", what: "limits and can fit together", run: tryLimits,
			do: "name in can what limits speak of, and the other way round"},
		{name: "OtherVersion", what: "it says so when the gateway speaks another version", run: tryVersion,
			do: "answer initialize with an error, or with your own version"},
		{name: "Ping", what: "it answers ping, before start and 32 times at once", run: tryPing,
			do: "answer each request with its own id"},
		{name: "UnknownMethod", what: "what it does not know is an error, and it goes on", run: tryUnknown,
			do: "answer with the error code -32601"},
		{name: "MalformedLine", what: "a line that is no message does not make it hang", run: tryMalformed,
			do: "skip the line, or end and say why on standard error"},
		{name: "LongLine", what: "a line of nearly 4 MB is read", run: tryLong,
			do: "give the reader of lines room: many stop at 64 KB"},
		{name: "SendBeforeStart", what: "a send without a connection is an error that passes: nothing was sent", run: tryEarly,
			do: "answer with an error of another code than 1, 2 and 3"},
		{name: "StartStop", what: "start and stop are answered, and it ends when its input is closed then", run: tryStop,
			do: "answer stop, and end when your input has ended"},
		{name: "InputEnds", what: "it ends when its input is closed without a word", run: tryEnd,
			do: "end when your input has ended, also while you wait for the network"},
		{name: "State", what: "what it keeps in the gateway's store is a short key and base64", run: tryState,
			do: "state.put takes { key, blob }, a key of 1 to 128 bytes and at most 1 MB of base64"},
		{name: "Ask", what: "what it asks of a person has a kind, a value and an end", run: tryAsk,
			do: "ask takes { kind, value, text, expiresMs }: qr, code, url or text; at most 2,000 bytes; at most 15 minutes"},
		{name: "Forged", what: "a call that does not prove that it is the network's is refused", run: tryForged,
			do: "answer http with a status from 400 to 499 before you read on"},
		{name: "SecretStaysSecret", what: "it does not say its secrets in its log or answers", run: trySecret,
			do: "leave the token out of what you log"},
	}
}

func tryLimits(t *trial, o Options) {
	r, err := begin(t, o).initialize(wire.Version)
	if err != nil {
		t.Fatalf("initialize: %v", err)
	}
	for _, a := range r.Can {
		if !slices.Contains(channel.Abilities(), a) {
			t.Errorf("can names %q, which is none of %q", a, channel.Abilities())
		}
	}
	l, can := r.Limits, func(a channel.Ability) bool { return slices.Contains(r.Can, a) }
	for _, n := range []int64{
		int64(l.Text), int64(l.Lines), int64(l.Caption), int64(l.Edits), l.EditPaceMs, l.EditWindowMs, l.TypingMs, l.Files,
	} {
		if n < 0 {
			t.Errorf("a limit is %d: %+v", n, l)
		}
	}
	if l.Text > 0 && l.Text < 64 {
		t.Errorf("text is %d; the gateway takes 64 at the least", l.Text)
	}
	if !slices.Contains([]channel.Unit{"", channel.Characters, channel.UTF16, channel.Bytes}, l.Unit) {
		t.Errorf("unit is %q, which is none of runes, utf16 and bytes", l.Unit)
	}
	if !slices.Contains([]channel.Dialect{"", channel.PlainText, channel.Markdown, channel.HTML}, l.Dialect) {
		t.Errorf("dialect is %q, which is none of plain, markdown and html", l.Dialect)
	}
	if !can(channel.CanEdit) && (l.EditPaceMs > 0 || l.EditWindowMs > 0 || l.Edits > 0) {
		t.Errorf("limits speak of edits, and can does not name edit")
	}
	if can(channel.CanType) != (l.TypingMs > 0) {
		t.Errorf("can names typing: %v; typingMs is %d", can(channel.CanType), l.TypingMs)
	}
	if can(channel.CanReact) != l.Reactions {
		t.Errorf("can names react: %v; reactions is %v", can(channel.CanReact), l.Reactions)
	}
	if l.Together < 0 || l.Together > 0 && l.Files == 0 {
		t.Errorf("together is %d and files %d: there is nothing to be together", l.Together, l.Files)
	}
	if l.Caption > 0 && l.Files == 0 {
		t.Errorf("caption is %d, and files is 0: there is nothing to have one", l.Caption)
	}
}

func tryVersion(t *trial, o Options) {
	r, err := begin(t, o).initialize(wire.Version + 998)
	var said *failure
	if err != nil && !errors.As(err, &said) {
		t.Errorf("initialize with protocol %d: %v", wire.Version+998, err)
	}
	if err == nil && r.Protocol != wire.Version {
		t.Errorf("it says that it speaks protocol %d", r.Protocol)
	}
}

func tryPing(t *trial, o Options) {
	k := ready(t, o)
	var answers []<-chan message
	for range 32 {
		a, err := k.request(wire.Ping, struct{}{})
		if err != nil {
			t.Fatalf("ping: %v", err)
		}
		answers = append(answers, a)
	}
	for i, a := range answers {
		if _, err := k.await(a); err != nil {
			t.Fatalf("ping %d of %d: %v", i+1, len(answers), err)
		}
	}
}

func tryUnknown(t *trial, o Options) {
	k := ready(t, o)
	_, err := k.ask("no.such.method", struct{}{})
	var said *failure
	if !errors.As(err, &said) || said.Code != -32601 {
		t.Errorf("a method that nobody has: %v, want error -32601", err)
	}
	k.must(wire.Ping, struct{}{})
}

func tryMalformed(t *trial, o Options) {
	k := ready(t, o)
	if err := k.write([]byte(`this is no message {"`)); err != nil {
		t.Fatalf("%v", err)
	}
	_, err := k.ask(wire.Ping, struct{}{})
	if err == nil {
		return // it went on
	}
	limit := time.NewTimer(o.Wait)
	defer limit.Stop()
	select { // what cannot be written to may still be ending
	case <-k.over:
		if k.lastWords() == "" {
			t.Errorf("it ended without a word")
		}
	case <-limit.C:
		t.Errorf("ping after a line that is no message: %v", err)
	}
}

func tryLong(t *trial, o Options) {
	k := ready(t, o)
	long := strings.Repeat("0123456789abcdef", (wire.MaxLine-4096)/16)
	_, err := k.ask(wire.Send, wire.SendParams{Key: "long", To: wire.Recipient{Conversation: "nobody"}, Text: long})
	var said *failure
	if err != nil && !errors.As(err, &said) {
		t.Fatalf("a send with a line of nearly 4 MB: %v", err)
	}
	k.must(wire.Ping, struct{}{})
}

func tryEarly(t *trial, o Options) {
	_, err := ready(t, o).ask(wire.Send, wire.SendParams{Key: "early", To: wire.Recipient{Conversation: "nobody"}, Text: "early"})
	var said *failure
	switch {
	case err == nil:
		t.Errorf("it says that it was sent")
	case !errors.As(err, &said):
		t.Errorf("a send before start: %v", err)
	case said.Code == wire.CodeUncertain || said.Code == wire.CodeAuth || said.Code == wire.CodeRefused:
		t.Errorf("a send before start: %v, which means that it is not tried again", said)
	}
}

func tryStop(t *trial, o Options) {
	k := ready(t, o)
	k.must(wire.Start, struct{}{})
	k.must(wire.Ping, struct{}{})
	k.must(wire.Stop, struct{}{})
	if err := k.proc.CloseInput(); err != nil {
		t.Fatalf("close its input: %v", err)
	}
	k.ends("stop and the end of its input")
}

func tryEnd(t *trial, o Options) {
	k := ready(t, o)
	k.must(wire.Start, struct{}{})
	if err := k.proc.CloseInput(); err != nil {
		t.Fatalf("close its input: %v", err)
	}
	k.ends("the end of its input")
}

func tryState(t *trial, o Options) {
	k := ready(t, o)
	k.must(wire.Start, struct{}{})
	k.must(wire.Ping, struct{}{})
	k.must(wire.Stop, struct{}{})
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.notes == 0 && len(k.wrong) == 0 {
		t.mu.Lock()
		t.skipped = "it kept nothing while it started and stopped"
		t.mu.Unlock()
	}
}

// tryAsk looks at what it asks while it starts.
func tryAsk(t *trial, o Options) {
	k := ready(t, o)
	k.must(wire.Start, struct{}{})
	for range 20 { // it may have to ask its network first
		k.must(wire.Ping, struct{}{})
		select {
		case <-time.After(o.Wait / 200):
		case <-k.over:
		}
	}
	k.must(wire.Stop, struct{}{})
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asks == 0 && len(k.wrong) == 0 {
		t.mu.Lock()
		t.skipped = "it asked nothing of a person within its first moments"
		t.mu.Unlock()
	}
}

// tryForged calls it as anybody can whose network calls.
func tryForged(t *trial, o Options) {
	k := begin(t, o)
	r, err := k.initialize(wire.Version)
	if err != nil {
		t.Fatalf("initialize: %v", err)
	}
	if !slices.Contains(r.Can, channel.CanBeCalled) {
		t.Skipf("cannot: its network does not call the gateway")
	}
	k.must(wire.Start, struct{}{})
	for _, p := range []wire.HTTPParams{
		{Method: "POST", Path: "/channels/program/check", Headers: map[string][]string{}, Body: []byte("{}")},
		{Method: "POST", Path: "/channels/program/check", Headers: map[string][]string{"Authorization": {"Bearer x"}}, Body: []byte("\x00")},
		{Method: "GET", Path: "/channels/program/check", Query: "%", Headers: map[string][]string{}},
	} {
		raw, err := k.ask(wire.HTTP, p)
		var said wire.HTTPResult
		if err == nil {
			err = json.Unmarshal(raw, &said)
		}
		if err != nil || said.Status < 400 || said.Status > 499 {
			t.Errorf("a %s without proof is answered with %d, %v", p.Method, said.Status, err)
		}
	}
}

// trySecret gives it a secret that is found again wherever it is said.
func trySecret(t *trial, o Options) {
	const canary = "hearth-check-canary-7f3a9c"
	o.Secrets = map[string]string{"token": canary}
	k := begin(t, o)
	r, err := k.initialize(wire.Version)
	if err == nil {
		k.must(wire.Start, struct{}{})
		_, err = k.ask(wire.Send, wire.SendParams{Key: "k", To: wire.Recipient{Conversation: "nobody"}, Text: "x"})
		_, _ = k.ask(wire.Stop, struct{}{}) // the other rows say how that went
	}
	_ = k.proc.CloseInput()
	k.ends("the end of its input")
	said := r.Name + r.Version + k.proc.Words()
	if err != nil {
		said += err.Error()
	}
	if strings.Contains(said, canary) {
		t.Errorf("its secret stands in what it says")
	}
}
