package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

func (s *served) target(t wire.Recipient, ch channel.Channel) channel.Target {
	return channel.Target{Account: ch.Account(), Conversation: t.Conversation, Thread: t.Thread, ReplyTo: t.ReplyTo}
}

func (s *served) send(ctx context.Context, ch channel.Channel, p wire.SendParams) (any, error) {
	m := channel.Message{To: s.target(p.To, ch), Text: p.Text, Key: p.Key, Choices: wire.Choices(p.Choices), Manner: p.Manner}
	for _, f := range p.Media {
		m.Media = append(m.Media, channel.Media{MIME: f.MIME, Name: f.Name, Size: f.Size, URL: f.Path})
	}
	r, err := ch.Send(ctx, m)
	if err != nil {
		return nil, cutOff(err)
	}
	return wire.SendResult{MessageID: r.MessageID}, nil
}

// cutOff: of what was being sent when its program was told to stop, nobody knows whether
// it arrived; a plain error would have it sent once more.
func cutOff(err error) error {
	if errors.Is(err, context.Canceled) && !errors.Is(err, channel.ErrUncertain) {
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return err
}

// change answers the requests for which a channel may lack the ability.
func (s *served) change(ctx context.Context, ch channel.Channel, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case wire.Edit:
		if e, can := channel.AsEditor(ch); can {
			return with(r, func(p wire.EditParams) (any, error) {
				if f, ends := channel.AsFinisher(ch); ends && p.Last {
					return nil, f.Finish(ctx, s.target(p.To, ch), p.MessageID, p.Text)
				}
				return nil, e.Edit(ctx, s.target(p.To, ch), p.MessageID, p.Text)
			})
		}
	case wire.Delete:
		if d, can := channel.AsDeleter(ch); can {
			return with(r, func(p wire.MessageParams) (any, error) { return nil, d.Delete(ctx, s.target(p.To, ch), p.MessageID) })
		}
	case wire.Typing:
		if t, can := channel.AsTyper(ch); can {
			return with(r, func(p wire.TargetParams) (any, error) { return nil, t.Typing(ctx, s.target(p.To, ch)) })
		}
	case wire.React:
		if a, can := channel.AsReactor(ch); can {
			return with(r, func(p wire.ReactParams) (any, error) {
				return nil, a.React(ctx, s.target(p.To, ch), p.MessageID, p.Emoji)
			})
		}
	case wire.HTTP:
		if c, can := channel.AsCalled(ch); can {
			return with(r, func(p wire.HTTPParams) (any, error) { return called(ctx, c, p) })
		}
	}
	return s.act(ctx, ch, r)
}

// act answers more of them.
func (s *served) act(ctx context.Context, ch channel.Channel, r *jsonrpc2.Request) (any, error) {
	chooser, chooses := channel.AsChooser(ch)
	switch {
	case r.Method == wire.Settle && chooses:
		return with(r, func(p wire.EditParams) (any, error) {
			return nil, chooser.Settle(ctx, s.target(p.To, ch), p.MessageID, p.Text)
		})
	case r.Method == wire.Answer && chooses:
		return with(r, func(p wire.AnswerParams) (any, error) {
			return nil, chooser.Answer(ctx, s.target(p.To, ch), p.SenderID, p.Choice.Channel(), p.Text)
		})
	}
	switch r.Method {
	case wire.Poll:
		if a, can := channel.AsPoller(ch); can {
			return with(r, func(p wire.PollParams) (any, error) {
				made, err := a.Poll(ctx, s.target(p.To, ch), p.Channel())
				if err != nil {
					return nil, cutOff(err)
				}
				return wire.SendResult{MessageID: made.MessageID}, nil
			})
		}
	case wire.Pin:
		if a, can := channel.AsPinner(ch); can {
			return with(r, func(p wire.PinParams) (any, error) { return nil, a.Pin(ctx, s.target(p.To, ch), p.MessageID, p.On) })
		}
	case wire.Menu:
		if a, can := channel.AsMenu(ch); can {
			return with(r, func(p wire.MenuParams) (any, error) { return nil, a.Menu(ctx, p.Channel()) })
		}
	case wire.Read:
		if a, can := channel.AsReader(ch); can {
			return with(r, func(p wire.ReadParams) (any, error) {
				all, err := a.Read(ctx, s.target(p.To, ch), p.Before, p.Limit)
				if err != nil {
					return nil, err
				}
				return wire.ReadOf(all), nil
			})
		}
	case wire.Search:
		if a, can := channel.AsSearcher(ch); can {
			return with(r, func(p wire.SearchParams) (any, error) {
				all, err := a.Search(ctx, s.target(p.To, ch), p.Words, p.Limit)
				if err != nil {
					return nil, err
				}
				return wire.ReadOf(all), nil
			})
		}
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "this program has no " + r.Method}
}

func called(ctx context.Context, c channel.Called, p wire.HTTPParams) (any, error) {
	a, err := c.Call(ctx, channel.Call{Method: p.Method, Path: p.Path, Query: p.Query, Header: p.Headers, Body: p.Body})
	if err != nil {
		return nil, err
	}
	return wire.HTTPResult{Status: a.Status, Headers: a.Header, Body: a.Body}, nil
}

// fetch puts a file of a message into the common folder.
func (s *served) fetch(ctx context.Context, ch channel.Channel, m wire.File) (any, error) {
	f, can := channel.AsFetcher(ch)
	if !can {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "this program fetches no files"}
	}
	from, err := f.Fetch(ctx, channel.Media{MIME: m.MIME, Name: m.Name, Size: m.Size, URL: m.URL})
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	s.mu.Lock()
	s.fetched++
	path := fmt.Sprintf("fetched-%d", s.fetched)
	s.mu.Unlock()
	to, err := s.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep a file: %w", err)
	}
	n, err := io.Copy(to, io.LimitReader(from, s.maxFile+1))
	if err = errors.Join(err, to.Close()); err == nil && s.maxFile > 0 && n > s.maxFile {
		err = fmt.Errorf("%w: the file has more than the %d bytes that are allowed", channel.ErrRefused, s.maxFile)
	}
	if err != nil {
		_ = s.root.Remove(path)
		return nil, err
	}
	return wire.FetchResult{Path: path}, nil
}
