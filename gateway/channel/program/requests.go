package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

// errNotAsked is a request that never left: nothing has happened.
var errNotAsked = errors.New("it was not asked")

// call asks the program. The error is errNotAsked when the request did not leave;
// errUnanswered when it did, and nobody knows what became of it.
func (c *Bridge) call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", errNotAsked, err)
	}
	cn, err := c.connection()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotAsked, err)
	}
	select {
	case cn.sends <- struct{}{}:
		defer func() { <-cn.sends }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errNotAsked, ctx.Err())
	}
	w, err := cn.rpc.DispatchCall(ctx, method, params)
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return fmt.Errorf("%w: the program that connects %s has ended", errNotAsked, c.o.Network)
	}
	if err == nil {
		err = w.Wait(ctx, result)
	}
	var own *jsonrpc2.Error
	if errors.As(err, &own) {
		return wire.Error(err)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsonrpc2.ErrClosed), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it has ended", errUnanswered) // the library's words say nothing to a person
	}
	return fmt.Errorf("%w: %w", errUnanswered, err)
}

// Ask asks the program something that channels have no word for, as who tries it does.
func (c *Bridge) Ask(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, method, params, result)
}

// errUnanswered is a request without an answer.
var errUnanswered = errors.New("the program that connects the network did not answer")

// Send asks the program to send a message. When it dies before it answered, nobody
// knows whether the message arrived.
func (c *Bridge) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	p := wire.SendParams{Key: m.Key, To: target(m.To), Text: m.Text, Draft: m.Draft, Choices: wire.ChoicesOf(m.Choices), Manner: m.Manner}
	for _, f := range m.Media {
		shared, remove, err := c.share(f)
		if err != nil {
			return channel.Receipt{}, err
		}
		defer remove()
		p.Media = append(p.Media, shared)
	}
	var r wire.SendResult
	err := c.call(ctx, wire.Send, p, &r)
	if errors.Is(err, errUnanswered) {
		return channel.Receipt{}, fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return channel.Receipt{MessageID: r.MessageID}, err
}

// share copies a file that is to be sent into the common folder.
func (c *Bridge) share(m channel.Media) (wire.File, func(), error) {
	out := wire.File{MIME: m.MIME, Name: m.Name, Size: m.Size}
	if c.o.OpenFile == nil {
		return out, nil, fmt.Errorf("%w: no file may leave here", channel.ErrRefused)
	}
	cn, err := c.connection()
	if err != nil {
		return out, nil, err
	}
	from, err := c.o.OpenFile(m.URL)
	if err != nil {
		return out, nil, fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.CreateTemp(cn.proc.Folder(), "send-*")
	if err != nil {
		return out, nil, fmt.Errorf("share a file with the program: %w", err)
	}
	remove := func() { _ = os.Remove(to.Name()) }
	limit := c.Limits().Files
	n, err := io.Copy(to, io.LimitReader(from, limit+1))
	if err = errors.Join(err, to.Close()); err == nil && n > limit {
		err = fmt.Errorf("%w: the file has more than the %d bytes that the network takes", channel.ErrRefused, limit)
	}
	if err != nil {
		remove()
		return out, nil, err
	}
	out.Path, out.Size = filepath.Base(to.Name()), n
	return out, remove, nil
}

// Finish implements channel.Finisher.
func (c *Bridge) Finish(ctx context.Context, to channel.Target, messageID, text string) error {
	return c.call(ctx, wire.Edit, wire.EditParams{To: target(to), MessageID: messageID, Text: text, Last: true}, nil)
}

// Edit implements channel.Editor.
func (c *Bridge) Edit(ctx context.Context, to channel.Target, messageID, text string) error {
	return c.call(ctx, wire.Edit, wire.EditParams{To: target(to), MessageID: messageID, Text: text}, nil)
}

// Delete implements channel.Deleter.
func (c *Bridge) Delete(ctx context.Context, to channel.Target, messageID string) error {
	return c.call(ctx, wire.Delete, wire.MessageParams{To: target(to), MessageID: messageID}, nil)
}

// Typing implements channel.Typer.
func (c *Bridge) Typing(ctx context.Context, to channel.Target) error {
	return c.call(ctx, wire.Typing, wire.TargetParams{To: target(to)}, nil)
}

// React implements channel.Reactor.
func (c *Bridge) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	return c.call(ctx, wire.React, wire.ReactParams{To: target(to), MessageID: messageID, Emoji: emoji}, nil)
}

// Settle implements channel.Chooser.
func (c *Bridge) Settle(ctx context.Context, to channel.Target, messageID, text string) error {
	return c.call(ctx, wire.Settle, wire.EditParams{To: target(to), MessageID: messageID, Text: text}, nil)
}

// Answer implements channel.Chooser.
func (c *Bridge) Answer(ctx context.Context, to channel.Target, senderID string, p channel.Press, text string) error {
	return c.call(ctx, wire.Answer, wire.AnswerParams{To: target(to), SenderID: senderID, Text: text,
		Choice: wire.PressParams{ID: p.ID, Data: p.Data, MessageID: p.MessageID}}, nil)
}

// Login implements channel.LoginAsker. A program that does not know it asks for nothing.
func (c *Bridge) Login(ctx context.Context) error {
	var now wire.AskParams
	if err := c.call(ctx, wire.Login, struct{}{}, &now); err != nil {
		if errors.Is(err, channel.ErrRefused) {
			return err
		}
		return nil // it was not there, or it has no such thing
	}
	if a, err := now.Channel(c.o.Now()); err == nil && a.Kind != "" {
		c.asked(a)
	}
	return nil
}

// Confirm implements channel.Confirmer.
func (c *Bridge) Confirm(ctx context.Context, value string, yes bool) error {
	return c.call(ctx, wire.Confirm, wire.ConfirmParams{Value: value, Yes: yes}, nil)
}

// LogOut implements channel.LogOuter.
func (c *Bridge) LogOut(ctx context.Context) error {
	err := c.call(ctx, wire.LogOut, struct{}{}, nil)
	if errors.Is(err, errUnanswered) {
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return err
}

// Poll implements channel.Poller. As with Send, nobody knows what became of one that
// the program did not answer.
func (c *Bridge) Poll(ctx context.Context, to channel.Target, p channel.Poll) (channel.Receipt, error) {
	var r wire.SendResult
	err := c.call(ctx, wire.Poll, wire.PollOf(target(to), p), &r)
	if errors.Is(err, errUnanswered) {
		return channel.Receipt{}, fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return channel.Receipt{MessageID: r.MessageID}, err
}

// Pin implements channel.Pinner.
func (c *Bridge) Pin(ctx context.Context, to channel.Target, messageID string, on bool) error {
	return c.call(ctx, wire.Pin, wire.PinParams{To: target(to), MessageID: messageID, On: on}, nil)
}

// Read implements channel.Reader.
func (c *Bridge) Read(ctx context.Context, to channel.Target, before string, limit int) ([]channel.Past, error) {
	return c.past(ctx, wire.Read, wire.ReadParams{To: target(to), Before: before, Limit: limit}, limit)
}

// Search implements channel.Searcher.
func (c *Bridge) Search(ctx context.Context, to channel.Target, words string, limit int) ([]channel.Past, error) {
	return c.past(ctx, wire.Search, wire.SearchParams{To: target(to), Words: words, Limit: limit}, limit)
}

func (c *Bridge) past(ctx context.Context, method string, params any, limit int) ([]channel.Past, error) {
	var r wire.ReadResult
	if err := c.call(ctx, method, params, &r); err != nil {
		return nil, err
	}
	if len(r.Messages) > limit {
		r.Messages = r.Messages[len(r.Messages)-limit:]
	}
	return r.Channel(), nil
}

// Call implements channel.Called.
func (c *Bridge) Call(ctx context.Context, in channel.Call) (channel.CallAnswer, error) {
	p := wire.HTTPParams{Method: in.Method, Path: in.Path, Query: in.Query, Headers: in.Header, Body: in.Body}
	if p.Headers == nil {
		p.Headers = map[string][]string{}
	}
	var r wire.HTTPResult
	if err := c.call(ctx, wire.HTTP, p, &r); err != nil {
		return channel.CallAnswer{}, err
	}
	return channel.CallAnswer{Status: r.Status, Header: r.Headers, Body: r.Body}, nil
}

// Menu implements channel.Menu.
func (c *Bridge) Menu(ctx context.Context, commands []channel.Command) error {
	return c.call(ctx, wire.Menu, wire.MenuOf(commands), nil)
}

// Fetch implements channel.Fetcher. The file is removed when it is closed.
func (c *Bridge) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	cn, err := c.connection()
	if err != nil {
		return nil, err
	}
	var r wire.FetchResult
	if err := c.call(ctx, wire.Fetch, wire.File{MIME: m.MIME, Name: m.Name, Size: m.Size, URL: m.URL}, &r); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(cn.proc.Folder())
	if err != nil {
		return nil, fmt.Errorf("open the folder of the program: %w", err)
	}
	st, err := root.Lstat(r.Path) // opening what is no file may wait for ever
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	var f *os.File
	if err == nil {
		f, err = root.Open(r.Path)
	}
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("open the file that the program fetched: %w", err)
	}
	return &fetched{File: f, root: root, path: r.Path}, nil
}

// fetched is a file in the common folder that nobody else needs.
type fetched struct {
	*os.File
	root *os.Root
	path string
}

// Close removes the file.
func (f *fetched) Close() error {
	return errors.Join(f.File.Close(), f.root.Remove(f.path), f.root.Close())
}

func target(t channel.Target) wire.Recipient {
	return wire.Recipient{Conversation: t.Conversation, Thread: t.Thread, ReplyTo: t.ReplyTo}
}
