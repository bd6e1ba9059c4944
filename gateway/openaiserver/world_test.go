package openaiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// world is a Handler on a port with an engine that a test plays.
type world struct {
	t       *testing.T
	h       *Handler
	url     string
	clients *pairing.Clients
	tokens  map[pairing.ClientScope]string

	on      Endpoints
	decided atomic.Int64 // requests that Admit was asked about

	mu      sync.Mutex
	asks    []Ask
	over    map[string]chan End
	stopped map[string]bool
	ids     int
	vectors bool
	play    func(w *world, a Ask) // what answers
}

type rows struct{}

func (rows) Load(context.Context) ([]pairing.Client, error) { return nil, nil }
func (rows) Save(context.Context, pairing.Client) error     { return nil }
func (rows) Forget(context.Context, string) error           { return nil }

// newWorld has a token for each right, and one for "all".
func newWorld(t *testing.T, l Limits, play func(*world, Ask)) *world {
	t.Helper()
	clients, err := pairing.NewClients(t.Context(), pairing.ClientOptions{Store: rows{}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clients: clients, on: Endpoints{Chat: true, Responses: true}, over: map[string]chan End{}, stopped: map[string]bool{},
		play: play, tokens: map[pairing.ClientScope]string{}}
	if l.Rate == 0 {
		l.Rate, l.Burst = 1e6, 1e6
	}
	for _, s := range pairing.ClientScopes() {
		if s != pairing.ClientOwner {
			w.tokens[s] = w.token(string(s), s)
		}
	}
	w.tokens[pairing.ClientOwner] = w.token("owner", pairing.ClientOwner, pairing.ClientChat)
	w.tokens["all"] = w.token("all", pairing.ClientChat, pairing.ClientModels, pairing.ClientEmbeddings)
	w.h = New(Options{
		Engine: w, Now: time.Now, Limits: l, Mark: func(_, text string) string {
			return "<" + text + ">"
		},
		NewID: func() string {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ids++
			return fmt.Sprintf("id-%d", w.ids)
		},
		Admit: func(r *http.Request, need pairing.ClientScope) (*pairing.Visit, error) {
			w.decided.Add(1)
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			return clients.Admit(r.Context(), pairing.AccessRequest{Token: token, Need: need})
		},
	})
	srv := httptest.NewServer(w.h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close(); w.h.Close() })
	w.url = srv.URL
	return w
}

func (w *world) token(name string, scopes ...pairing.ClientScope) string {
	w.t.Helper()
	_, token, err := w.clients.Create(w.t.Context(), name, scopes, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// echo answers with the message.
func echo(w *world, a Ask) {
	w.h.Say(a.RunID, "echo: ")
	w.h.Say(a.RunID, a.Text)
	w.end(a.RunID, End{State: Answered, Stop: model.StopEnd, Usage: model.Usage{Input: 3, Output: 2, CacheRead: 1}})
}

func (w *world) end(runID string, e End) {
	w.h.Done(runID)
	w.mu.Lock()
	c := w.over[runID]
	w.mu.Unlock()
	c <- e
}

// call has the model call tools of the program at once, and returns their
// results.
func (w *world) call(a Ask, names ...string) (out []string) {
	msg := model.Message{Role: model.RoleAssistant}
	for i, n := range names {
		msg.Blocks = append(msg.Blocks,
			model.Block{ToolCall: &model.ToolCall{ID: fmt.Sprint("c", i), Name: n, Arguments: json.RawMessage(`{"n":1}`)}})
	}
	w.h.Intend(a.RunID, msg, model.Usage{Input: 1, Output: 1})
	for i, n := range names {
		for _, t := range w.h.Tools(a.RunID) {
			if t.Spec().Name != n {
				continue
			}
			res, err := t.Run(w.t.Context(), tool.Call{ID: fmt.Sprint("c", i), Args: json.RawMessage(`{"n":1}`)})
			if err != nil {
				res.Text = "error: " + err.Error()
			}
			out = append(out, res.Text)
		}
	}
	return out
}

func (w *world) Models() []Model {
	return []Model{{ID: "hearth", Owner: "hearth"}, {ID: "chat/echo", Owner: "chat"}}
}

func (w *world) Find(name, agent string) (Target, error) {
	if name == "nobody" {
		return Target{}, NoModel("There is no model %q.", name)
	}
	return Target{Agent: "main", Model: name}, nil
}

func (w *world) Key(agent, name string) (string, error) {
	if strings.HasPrefix(name, "agent:") {
		return name, nil
	}
	return "agent:" + agent + ":" + name, nil
}

func (w *world) KeyOf(runID string, c pairing.Client) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asks {
		if a.RunID == runID && a.Client.ID == c.ID {
			return a.Key, true
		}
	}
	return "", false
}

func (w *world) Begin(_ context.Context, a Ask) error {
	w.mu.Lock()
	w.asks = append(w.asks, a)
	w.over[a.RunID] = make(chan End, 1)
	w.mu.Unlock()
	if a.Text == "refuse" {
		return Invalid("messages", "No.")
	}
	if a.Text == "break" {
		return errors.New("the disk said /secret/path")
	}
	go w.play(w, a)
	return nil
}

func (w *world) Wait(ctx context.Context, runID string) (End, error) {
	w.mu.Lock()
	c := w.over[runID]
	w.mu.Unlock()
	select {
	case e := <-c:
		return e, nil
	case <-ctx.Done():
		return End{}, ctx.Err()
	}
}

func (w *world) Endpoints() Endpoints { return w.on }

func (w *world) Stop(_ context.Context, _, runID string) {
	w.mu.Lock()
	w.stopped[runID] = true
	c := w.over[runID]
	w.mu.Unlock()
	select {
	case c <- End{State: Stopped}:
	default:
	}
}

func (w *world) Vectors(_ context.Context, texts []string) (string, [][]float32, error) {
	if !w.vectors {
		return "", nil, ErrNoVectors
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, -0.5, float32(i)}
	}
	return "a model", out, nil
}

func (w *world) Waiting(context.Context) func() { return func() {} }

// lastAsk is what the engine got last.
func (w *world) lastAsk() Ask {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asks[len(w.asks)-1]
}

func (w *world) request(method, path, body string, headers ...string) *http.Request {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.tokens["all"])
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

func (w *world) do(method, path, body string, headers ...string) (int, string, http.Header) {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(w.request(method, path, body, headers...))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(raw), resp.Header
}

// chat is a completion of messages, as JSON text.
func (w *world) chat(messages string, more ...string) (int, string) {
	w.t.Helper()
	status, raw, _ := w.do("POST", "/v1/chat/completions", `{"messages":`+messages+strings.Join(more, "")+`}`)
	return status, raw
}

// wait returns when something has become true.
func (w *world) wait(what string, is func() bool) {
	w.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		w.mu.Lock()
		ok := is()
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-limit:
			w.t.Fatalf("%s did not happen", what)
		}
	}
}

func compact(t *testing.T, raw string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return b.String()
}
