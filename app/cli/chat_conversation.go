package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	// abortPatience is how long Ctrl-C waits for the gateway to take the stop.
	abortPatience = 2 * time.Second
	// checkEvery is how often a quiet answer is looked up in the history, in
	// case an event went astray.
	checkEvery = 20 * time.Second
	// historyPage is how far back a run's own messages are looked for.
	historyPage = 200
)

// conversation sends messages and prints their answers over a connection that
// is made again when it is lost.
type conversation struct {
	app  *app
	opts chatOptions
	link *client.Link
	key  string // of the session, once known

	mu      sync.Mutex // guards the answer that is being printed
	answer  *follower
	cleaner terminal.Cleaner
	changed chan struct{} // a token: the answer ended or has a gap
	gap     bool
	files   []protocol.AttachedFile // of the message, as they were taken
	told    bool                    // that Hearth is paused; of attempt alone
	queued  bool                    // a person was told that other answers come first
	failed  error                   // of writing
}

func newConversation(a *app, o chatOptions) *conversation {
	c := &conversation{app: a, opts: o, key: o.session, changed: make(chan struct{}, 1)}
	c.link = &client.Link{
		Dial: func(ctx context.Context) (*client.Client, error) {
			return a.dial(ctx, client.Options{
				Scopes:  []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite},
				Caps:    []string{protocol.CapSlimDeltas},
				OnEvent: c.event,
			})
		},
		OnLost: func(error) { c.note("The connection was lost; waiting for the gateway…") },
	}
	return c
}

func (c *conversation) close() { _ = c.link.Close() }

// note tells a person about the state of things, never a program.
func (c *conversation) note(text string) {
	if !c.opts.quiet && !c.app.asJSON {
		_ = c.app.errs().print(dim(text), "\n")
	}
}

// ask sends one message and prints its answer.
func (c *conversation) ask(ctx context.Context, text string) error {
	run := rand.Text()
	c.mu.Lock()
	c.answer, c.cleaner, c.gap, c.queued = &follower{run: run}, terminal.Cleaner{}, false, false
	c.mu.Unlock()

	wait := ctx
	if c.opts.timeout > 0 { // the gateway stops the answer itself; this is for when it cannot
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, c.opts.timeout+abortPatience)
		defer cancel()
	}
	for {
		err := c.attempt(wait, run, text)
		switch {
		case err == nil:
			return c.finish()
		case ctx.Err() != nil:
			c.abort(ctx, run)
			c.endLine()
			return errInterrupted
		case wait.Err() != nil:
			c.abort(ctx, run)
			c.endLine()
			if words := c.paused(ctx); words != "" {
				return &failure{exitAnswer, "nothing was answered within " + c.opts.timeout.String() + ", because Hearth is paused, so the message " +
					"was taken back", words}
			}
			return c.tookTooLong()
		case !errors.Is(err, client.ErrLost) && !errors.Is(err, client.ErrSlow):
			c.endLine()
			return err
		}
	}
}

// attempt sends the message on a live connection and follows the answer until
// it ends. It is repeated after a loss: the same key makes the same run.
func (c *conversation) attempt(ctx context.Context, run, text string) error {
	cl, err := c.link.Client(ctx)
	if err != nil {
		return err
	}
	if c.key == "" {
		c.key = mainSession(cl.Hello())
	}
	var sub protocol.SubscribeResult
	if err := cl.Call(ctx, protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: c.key}, &sub); err != nil {
		return err
	}
	status, err := c.send(ctx, cl, run, text)
	if err != nil {
		return err
	}
	if words := c.paused(ctx); words != "" && !c.told {
		c.told = true
		c.note(words)
	}
	if status != protocol.SendStarted { // an earlier attempt got through: catch up
		if err := c.catchUp(ctx, cl); err != nil {
			return err
		}
		if ended, _, _ := c.state(); status == protocol.SendOK && !ended {
			return &failure{exitAnswer, "the answer has ended, but is no longer in the conversation: it was cleared meanwhile",
				"send the message again"}
		}
	}
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	for {
		ended, gap, err := c.state()
		if ended || err != nil {
			return err
		}
		if gap {
			if err := c.catchUp(ctx, cl); err != nil {
				return err
			}
			continue
		}
		select {
		case <-c.changed:
		case <-check.C:
			if err := c.catchUp(ctx, cl); err != nil {
				return err
			}
		case <-cl.Done():
			return cl.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func mainSession(h protocol.HelloOK) string {
	if d := h.Snapshot.SessionDefaults; d != nil && d.MainSessionKey != "" {
		return d.MainSessionKey
	}
	return "main"
}

// send hands the message over. A model for one answer needs the method agent,
// whose second response nobody waits for: the events tell the same.
func (c *conversation) send(ctx context.Context, cl *client.Client, run, text string) (status string, err error) {
	if c.opts.model == "" {
		var r protocol.ChatSendResult
		if err := c.handIn(ctx, cl); err != nil {
			return "", err
		}
		err = cl.Call(ctx, protocol.MethodChatSend, protocol.ChatSendParams{
			SessionKey: c.key, Message: text, IdempotencyKey: run, TimeoutMs: c.opts.timeout.Milliseconds(), Attachments: c.opts.sent,
		}, &r)
		if len(r.Files) > 0 {
			c.files = r.Files
		}
		return r.Status, err
	}
	var r protocol.AgentAccepted
	err = cl.Call(ctx, protocol.MethodAgent, protocol.AgentParams{
		SessionKey: c.key, Message: text, IdempotencyKey: run, Model: c.opts.model,
		Timeout: int64((c.opts.timeout + time.Second - 1) / time.Second),
	}, &r)
	// It may have been taken by an earlier attempt; looking is always right.
	return protocol.SendInFlight, err
}

// catchUp reads what the gateway has of the answer.
func (c *conversation) catchUp(ctx context.Context, cl *client.Client) error {
	var h protocol.ChatHistory
	err := cl.Call(ctx, protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: c.key, Limit: historyPage}, &h)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gap = false
	c.write(c.answer.history(&h))
	return nil
}

func (c *conversation) state() (ended, gap bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer.end != nil, c.gap, c.failed
}

// event runs on the connection's goroutine. Writing here lets a slow reader of
// our output slow the connection down, not fill the memory.
func (c *conversation) event(e protocol.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer == nil || c.answer.end != nil {
		return
	}
	switch e.Event {
	case protocol.EventSessionMessage:
		var m protocol.SessionMessage
		if json.Unmarshal(e.Payload, &m) != nil || m.Message == nil {
			return
		}
		if m.Message.Role == protocol.MessageSystem && m.SessionKey == c.key { // another model answers, or nothing may be spent
			c.note(line(m.Message.Text()))
		}
		c.answer.message(m.Message)
	case protocol.EventChat:
		var ev protocol.ChatEvent
		if json.Unmarshal(e.Payload, &ev) != nil || ev.RunID != c.answer.run {
			return
		}
		if ev.State == protocol.ChatStatus && ev.Phase == "queued" && !c.queued {
			c.queued = true
			c.note("Waiting for an earlier answer of this conversation to end…")
		}
		words, gap := c.answer.chat(&ev)
		c.write(words)
		c.gap = c.gap || gap
		if gap || c.answer.end != nil {
			c.wake()
		}
	}
}

func (c *conversation) wake() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// write prints new words of the answer; mu is held.
func (c *conversation) write(words string) {
	if words == "" || c.failed != nil {
		return
	}
	anew := c.answer.anew
	c.answer.anew = false
	out := c.app.out()
	if c.app.asJSON {
		c.failed = out.jsonLine(deltaJSON{"delta", c.answer.run, words, anew})
	} else {
		if anew {
			c.cleaner = terminal.Cleaner{}
			words = between + words
			c.note("The answer begins again.")
		}
		c.failed = out.print(c.cleaner.Next(words))
	}
	if c.failed != nil {
		c.wake()
	}
}

type deltaJSON struct {
	Type  string `json:"type"`
	RunID string `json:"runId"`
	Text  string `json:"text"`
	Anew  bool   `json:"anew,omitempty"` // Text is the whole answer so far; forget what came before
}

// resultJSON is the last line of `chat --json`.
type resultJSON struct {
	Type       string          `json:"type"`
	RunID      string          `json:"runId"`
	SessionKey string          `json:"sessionKey"`
	State      string          `json:"state"` // final, aborted, error
	Text       string          `json:"text"`
	Model      string          `json:"model,omitempty"`
	BuiltIn    bool            `json:"builtIn,omitempty"`
	Usage      *protocol.Usage `json:"usage,omitempty"`
	Error      string          `json:"error,omitempty"`
	ErrorKind  string          `json:"errorKind,omitempty"`
}

// finish prints how the answer ended and turns a bad end into an error.
func (c *conversation) finish() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, a := c.answer.end, c.answer
	if c.app.asJSON {
		err := c.app.out().jsonLine(resultJSON{"result", a.run, c.key, o.state, string(a.shown), o.model, o.builtIn, o.usage, o.errText,
			o.errKind})
		if err != nil {
			return err
		}
	} else {
		c.endLineLocked()
	}
	c.given(c.files)
	switch o.state {
	case protocol.ChatAborted:
		return &failure{code: exitAnswer, message: "the answer was stopped", hint: "what had arrived is kept in the conversation"}
	case protocol.ChatError:
		if o.errText == "" {
			o.errText = "the answer failed"
		}
		if c.opts.timeout > 0 && strings.Contains(o.errText, "agents.defaults.timeoutSeconds") { // which is not what ended it
			return c.tookTooLong()
		}
		return &failure{code: exitAnswer, message: o.errText}
	}
	if o.builtIn {
		c.note("(This was Hearth's built-in guide, not an AI model. `hearth models list` shows what else there is.)")
	}
	return nil
}

// tookTooLong is that an answer was not there within --timeout.
func (c *conversation) tookTooLong() *failure {
	return &failure{exitAnswer, "the answer took longer than " + c.opts.timeout.String() + " and was stopped",
		"what had arrived is kept; try again with a longer --timeout"}
}

func (c *conversation) endLine() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.app.asJSON {
		c.endLineLocked()
	}
}

// endLineLocked closes the last line of an answer that was begun.
func (c *conversation) endLineLocked() {
	if t := c.answer.shown; len(t) > 0 && t[len(t)-1] != '\n' {
		_ = c.app.out().print("\n")
	}
}

// paused is how far Hearth may act now, when that keeps it from answering.
func (c *conversation) paused(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortPatience)
	defer cancel()
	cl, err := c.link.Client(ctx)
	if err != nil {
		return ""
	}
	var p protocol.Pause
	if err := cl.Call(ctx, protocol.MethodPauseGet, nil, &p); err != nil || p.Level != "everything" && p.Level != "network" {
		return ""
	}
	return pauseWords(&p)
}

// abort asks the gateway to stop the run, briefly and even though ctx ended.
func (c *conversation) abort(ctx context.Context, run string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortPatience)
	defer cancel()
	cl, err := c.link.Client(ctx)
	if err != nil {
		return
	}
	_ = cl.Call(ctx, protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: c.key, RunID: run}, nil)
}
