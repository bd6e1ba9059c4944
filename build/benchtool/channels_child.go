package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

// child is an account in a process of its own, with this program on the gateway's side.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	folder string

	ready, came chan struct{} // it receives; a message came and was taken
	over        chan error    // why it ended

	mu      sync.Mutex
	n       int
	waiting map[int]chan told
	once    [2]sync.Once
}

// told is a line that a child writes.
type told struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// begin starts the process of an account and lets it connect.
func begin(ctx context.Context, b *bench, network string, texts, secrets map[string]string) (*child, error) {
	c := &child{ready: make(chan struct{}), came: make(chan struct{}), over: make(chan error, 1), waiting: map[int]chan told{}}
	var err error
	if c.folder, err = os.MkdirTemp("", "hearth-bench-channel"); err != nil {
		return nil, err
	}
	c.cmd = exec.CommandContext(ctx, filepath.Join(filepath.Dir(b.hearth), "hearth-channels"), network)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		c.in, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.folder))
	}
	go c.read(out)
	first := wire.InitializeParams{Protocol: wire.Version, Channel: network, Account: "default", Settings: texts, Secrets: secrets,
		MaxFile: 1 << 20, Folder: c.folder}
	err = c.ask(ctx, wire.Initialize, first, nil)
	if err == nil {
		err = c.ask(ctx, wire.Start, struct{}{}, nil)
	}
	if err == nil {
		err = c.until(ctx, c.ready)
	}
	if err != nil {
		c.end()
		return nil, fmt.Errorf("connect %s: %w", network, err)
	}
	return c, nil
}

func (c *child) end() {
	_ = c.in.Close()
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	_ = os.RemoveAll(c.folder)
}

// until waits for something of it.
func (c *child) until(ctx context.Context, what <-chan struct{}) error {
	select {
	case <-what:
		return nil
	case err := <-c.over:
		c.over <- err
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask makes a request and waits for its answer.
func (c *child) ask(ctx context.Context, method string, params, result any) error {
	answer := make(chan told, 1)
	c.mu.Lock()
	c.n++
	id := c.n
	c.waiting[id] = answer
	c.mu.Unlock()
	if err := c.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return err
	}
	select {
	case got := <-answer:
		if got.Error != nil {
			return errors.New(method + ": " + got.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(got.Result, result)
	case err := <-c.over:
		c.over <- err
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *child) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.in.Write(append(b, '\n'))
	return err
}

// read takes what it says until it ends.
func (c *child) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, wire.MaxLine)
	for lines.Scan() {
		var l told
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			c.over <- err
			return
		}
		if l.Method == wire.Stopped {
			c.over <- fmt.Errorf("it cannot go on: %s", l.Params)
			return
		}
		c.take(l)
	}
	c.over <- errors.Join(errors.New("it has ended"), lines.Err())
}

func (c *child) take(l told) {
	var st wire.StatusParams
	switch {
	case l.Method == wire.Status && json.Unmarshal(l.Params, &st) == nil && st.State == channel.Receiving:
		c.once[0].Do(func() { close(c.ready) })
	case l.Method != "" && len(l.ID) > 0: // nothing is kept, and all is taken
		_ = c.write(map[string]any{"jsonrpc": "2.0", "id": l.ID, "result": wire.StateValue{}})
		if l.Method == wire.Inbound {
			c.once[1].Do(func() { close(c.came) })
		}
	case l.Method == "":
		id, err := strconv.Atoi(string(l.ID))
		c.mu.Lock()
		waits := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if err == nil && waits != nil {
			waits <- l
		}
	}
}

// called is an account that its network calls, as the strict servers know one.
type called struct {
	channel.Channel
	c *child
}

// Call implements channel.Called.
func (k called) Call(ctx context.Context, in channel.Call) (channel.CallAnswer, error) {
	var got wire.HTTPResult
	err := k.c.ask(ctx, wire.HTTP, wire.HTTPParams{Method: in.Method, Path: in.Path, Query: in.Query, Headers: in.Header, Body: in.Body}, &got)
	return channel.CallAnswer{Status: got.Status, Header: got.Headers, Body: got.Body}, err
}

// said sends a message from an account to another one.
func (c *child) said(ctx context.Context, to, words string) error {
	return c.ask(ctx, wire.Send, wire.SendParams{Key: "bench", To: wire.Recipient{Conversation: to}, Text: words}, nil)
}
