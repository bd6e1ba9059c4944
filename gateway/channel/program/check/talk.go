package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
	"github.com/hearth-assistant/hearth/internal/text"
)

// talk is a started program, spoken to line by line: what it must not do can be said
// to it too.
type talk struct {
	t    *trial
	o    Options
	proc channel.Process
	over chan struct{} // closed when its output has ended
	// What it asked is answered by a goroutine of its own: a program that writes before
	// it reads on must be listened to meanwhile.
	replies chan []byte

	mu      sync.Mutex
	next    int
	answers map[string]chan message
	kept    map[string][]byte
	wrong   []string // what it wrote that is no message, or that is wrong in it
	notes   int
	asks    int
	ended   bool // by us: what breaks then is nobody's fault
}

// message is a line of either side.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
}

// failure is an error in an answer.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string {
	return fmt.Sprintf("error %d (%s)", f.Code, text.Ellipsis(f.Message, 200))
}

// unread is how many answers a program may leave unread.
const unread = 1000

// begin starts the program; the row ends it.
func begin(t *trial, o Options) *talk {
	p, err := o.Launch(t.ctx, "program", "check", o.Argv)
	if err != nil {
		t.Fatalf("it could not be started: %v", err)
	}
	k := &talk{t: t, o: o, proc: p, over: make(chan struct{}), replies: make(chan []byte, unread),
		answers: map[string]chan message{}, kept: map[string][]byte{}}
	go k.listen()
	replied := make(chan struct{})
	go func() {
		defer close(replied)
		for b := range k.replies {
			_ = k.write(b) // one that does not read any more has ended, which the row tells
		}
	}()
	t.Cleanup(func() {
		k.mu.Lock()
		k.ended = true
		k.mu.Unlock()
		p.Stop()
		<-p.Done()
		<-k.over
		close(k.replies)
		<-replied
		_ = p.Output().Close()
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, what := range k.wrong {
			t.Errorf("%s", what)
		}
	})
	return k
}

// listen takes what the program writes until it ends.
func (k *talk) listen() {
	defer close(k.over)
	lines := wire.NewLines(k.proc.Output(), nil, k.o.Now)
	for {
		var raw json.RawMessage
		if err := lines.ReadObject(&raw); err != nil {
			if cause := lines.Cause(); cause != nil {
				k.blame("%v", cause)
			}
			return
		}
		var m message
		if err := json.Unmarshal(raw, &m); err != nil || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
			k.blame("it wrote a line that is no request and no answer: %s", text.Ellipsis(string(raw), 200))
			continue
		}
		k.heard(m)
	}
}

func (k *talk) blame(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.wrong) < mostWords && !k.ended {
		k.wrong = append(k.wrong, fmt.Sprintf(format, args...))
	}
}

func (k *talk) heard(m message) {
	switch {
	case m.Method == "":
		k.mu.Lock()
		answer := k.answers[string(m.ID)]
		delete(k.answers, string(m.ID))
		k.mu.Unlock()
		if answer == nil {
			k.blame("it answered %s, which was not asked or is answered already", text.Ellipsis(string(m.ID), 40))
			return
		}
		answer <- m
	case len(m.ID) == 0 || string(m.ID) == "null":
		k.told(m)
	default:
		k.answer(m)
	}
}

// told takes a note.
func (k *talk) told(m message) {
	switch m.Method {
	case wire.Status, wire.Stopped:
	case wire.Ask:
		var p wire.AskParams
		err := json.Unmarshal(m.Params, &p)
		if err == nil {
			_, err = p.Channel(k.o.Now())
		}
		if err != nil {
			k.blame("what it asks cannot be shown: %v", err)
			return
		}
		k.mu.Lock()
		k.asks++
		k.mu.Unlock()
	default:
		k.blame("it told %q, which is no note of a program; a request needs an id", m.Method)
	}
}

// answer answers the program as the gateway does.
func (k *talk) answer(m message) {
	var v wire.StateValue
	_ = json.Unmarshal(m.Params, &v)
	k.mu.Lock()
	defer k.mu.Unlock()
	result, fault := any(struct{}{}), (*failure)(nil)
	switch m.Method {
	case wire.StateGet:
		result = wire.StateValue{Key: v.Key, Blob: k.kept[v.Key]}
	case wire.StatePut:
		if fault = wrongValue(m.Params, v); fault == nil {
			k.kept[v.Key] = v.Blob
			k.notes++
		} else if len(k.wrong) < mostWords {
			k.wrong = append(k.wrong, "state.put: "+fault.Message)
		}
	case wire.Inbound: // its real network may have something to say; it is left there
		fault = &failure{Code: -32000, Message: "this is a check: nothing is taken"}
	default:
		fault = &failure{Code: -32601, Message: "the gateway has no " + m.Method}
	}
	out := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if fault != nil {
		out["error"] = fault
	} else {
		out["result"] = result
	}
	b, err := json.Marshal(out)
	if err != nil {
		return
	}
	select {
	case k.replies <- b:
	default:
		if len(k.wrong) < mostWords && !k.ended {
			k.wrong = append(k.wrong, fmt.Sprintf("it asked %d things and read none of the answers", unread))
		}
	}
}

func wrongValue(raw json.RawMessage, v wire.StateValue) *failure {
	if err := json.Unmarshal(raw, &v); err != nil {
		return &failure{Code: -32602, Message: "blob is not base64: " + err.Error()}
	}
	if v.Key == "" || len(v.Key) > 128 || len(v.Blob) > 1<<20 {
		return &failure{Code: 1, Message: "a key has 1 to 128 bytes, a value at most 1 MB"}
	}
	return nil
}

// write puts a line into the program's input.
func (k *talk) write(line []byte) error { return k.proc.Write(append(line, '\n')) }

// request asks without waiting.
func (k *talk) request(method string, params any) (<-chan message, error) {
	k.mu.Lock()
	k.next++
	id := strconv.Itoa(k.next)
	answer := make(chan message, 1)
	k.answers[id] = answer
	k.mu.Unlock()
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": k.next, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if err := k.write(b); err != nil {
		return nil, fmt.Errorf("it does not read its input: %w", err)
	}
	return answer, nil
}

// await waits for an answer.
func (k *talk) await(answer <-chan message) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(k.t.ctx, k.o.Wait)
	defer cancel()
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-k.over:
		select { // the answer may have been the last that it said
		case m := <-answer:
			if m.Error != nil {
				return nil, m.Error
			}
			return m.Result, nil
		default:
		}
		return nil, fmt.Errorf("it has ended%s", k.lastWords())
	case <-ctx.Done():
		return nil, fmt.Errorf("%w within %v", errSilent, k.o.Wait)
	}
}

// ask asks and waits.
func (k *talk) ask(method string, params any) (json.RawMessage, error) {
	answer, err := k.request(method, params)
	if err != nil {
		return nil, err
	}
	return k.await(answer)
}

// must is an answer without an error.
func (k *talk) must(method string, params any) json.RawMessage {
	r, err := k.ask(method, params)
	if err != nil {
		k.t.Fatalf("%s: %v", method, err)
	}
	return r
}

func (k *talk) lastWords() string {
	select {
	case <-k.proc.Done():
	case <-time.After(time.Second):
	}
	if w := k.proc.Words(); w != "" {
		return ". It said: " + w
	}
	return ""
}

// initialize says the gateway's first words.
func (k *talk) initialize(protocol int) (r wire.InitializeResult, err error) {
	raw, err := k.ask(wire.Initialize, wire.InitializeParams{Protocol: protocol, Channel: "program", Account: "check",
		Settings: all(k.o.Settings), Secrets: all(k.o.Secrets), MaxFile: 1 << 20, Folder: k.proc.Folder(), Test: true})
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("the answer to initialize is not what it should be: %w", err)
	}
	return r, nil
}

func all(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// ready is a program that has said what it is.
func ready(t *trial, o Options) *talk {
	k := begin(t, o)
	if _, err := k.initialize(wire.Version); err != nil {
		t.Fatalf("initialize: %v", err)
	}
	return k
}

// ends waits for the end of the program.
func (k *talk) ends(after string) {
	limit := time.NewTimer(k.o.Wait)
	defer limit.Stop()
	select {
	case <-k.proc.Done():
	case <-limit.C:
		k.t.Errorf("%v after %s it still runs", k.o.Wait, after)
	}
}
