package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

const (
	connectTime = 40 * time.Second
	answerTime  = time.Minute      // that a server has for a request
	messageTime = 10 * time.Minute // and for a message
	// IDLE is begun again after a while, in which a connection without another end is
	// noticed. The first turns are short: some servers do not tell what came just
	// before IDLE began.
	firstTurn = 2 * time.Second
	idleTurn  = 10 * time.Minute
	lookPause = 30 * time.Second // between two looks where there is no IDLE

	requestBytes = 4 << 20 // that may come between two requests
	messageBytes = email.MaxMessage + requestBytes
)

// mailbox is a folder over a connection.
type mailbox struct {
	*imapclient.Client
	conn     net.Conn
	wire     *bounded
	heard    chan struct{} // holds one when something has come
	end      func()
	turn     time.Duration // of IDLE, the next one
	validity uint32
	next     uint32 // the number that the next message gets
}

// open connects, logs in and opens the folder.
func (c *Client) open(ctx context.Context, readOnly bool) (_ *mailbox, err error) {
	conn, err := egress.DialNamed(ctx, net.JoinHostPort(c.imap.host, c.imap.port))
	if err != nil {
		return nil, err
	}
	b := &mailbox{conn: conn, wire: &bounded{Conn: conn}, heard: make(chan struct{}, 1), turn: firstTurn}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	b.end = func() { stop(); _ = conn.Close() }
	defer func() {
		if err != nil {
			b.end()
		}
	}()
	b.within(connectTime, requestBytes)
	conf := &tls.Config{ServerName: c.imap.host, MinVersion: tls.VersionTLS12, NextProtos: []string{"imap"}}
	options := &imapclient.Options{TLSConfig: conf, UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(said *imapclient.UnilateralDataMailbox) {
			if said.NumMessages != nil {
				select {
				case b.heard <- struct{}{}:
				default:
				}
			}
		},
	}}
	switch c.imap.security {
	case fromTheStart:
		b.Client = imapclient.New(tls.Client(b.wire, conf), options)
	case plain:
		b.Client = imapclient.New(b.wire, options)
	default:
		b.Client, err = imapclient.NewStartTLS(b.wire, options)
	}
	if err == nil {
		err = b.WaitGreeting()
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not answer as a mail server: %w", c.imap.host, err)
	}
	if err := b.Login(c.user, c.password).Wait(); err != nil {
		return nil, c.rejected(err)
	}
	c.mu.Lock()
	c.entered = true
	c.mu.Unlock()
	box, err := b.Select(c.folder, &imap.SelectOptions{ReadOnly: readOnly}).Wait()
	if err != nil {
		return nil, fmt.Errorf("the folder %s cannot be opened: %w", c.folder, err)
	}
	b.validity, b.next = box.UIDValidity, uint32(box.UIDNext)
	return b, nil
}

// rejected says whether another login would be no better. A server that let us in
// before may have troubles of its own.
func (c *Client) rejected(err error) error {
	c.mu.Lock()
	entered := c.entered
	c.mu.Unlock()
	why := fmt.Errorf("%s did not let %s in: %w", c.imap.host, c.user, err)
	var said *imap.Error
	if !errors.As(err, &said) || said.Type != imap.StatusResponseTypeNo {
		return why
	}
	switch said.Code {
	case imap.ResponseCodeAuthenticationFailed, imap.ResponseCodeAuthorizationFailed, imap.ResponseCodeExpired:
	case "":
		if entered {
			return why
		}
	default:
		return why
	}
	return fmt.Errorf("%w: %w. Check username and password; some providers want a password for this program alone", channel.ErrAuth, why)
}

// within bounds the time and the bytes of what is asked next.
func (b *mailbox) within(d time.Duration, bytes int64) {
	_ = b.conn.SetDeadline(time.Now().Add(d))
	b.wire.left.Store(bytes)
}

// fetch reads a message; nil: it is gone. More than MaxMessage bytes of it are not
// read.
func (b *mailbox) fetch(uid uint32) (raw []byte, at time.Time, err error) {
	b.within(messageTime, messageBytes)
	part := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: email.MaxMessage + 1}}
	list, err := b.Fetch(imap.UIDSetNum(imap.UID(uid)), &imap.FetchOptions{
		UID: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{part},
	}).Collect()
	if err != nil {
		return nil, at, fmt.Errorf("read a message: %w", err)
	}
	for _, m := range list {
		if uint32(m.UID) == uid {
			return m.FindBodySection(part), m.InternalDate, nil
		}
	}
	return nil, at, nil
}

// rest waits until something has come, or for a while.
func (b *mailbox) rest(ctx context.Context) error {
	turn := b.turn
	b.turn = min(2*b.turn, idleTurn)
	select {
	case <-b.heard:
		b.turn = firstTurn
		return nil
	default:
	}
	b.within(idleTurn+answerTime, requestBytes)
	if !b.Caps().Has(imap.CapIdle) {
		if err := sleep.For(ctx, lookPause); err != nil {
			return err
		}
		b.within(answerTime, requestBytes)
		return b.Noop().Wait()
	}
	cmd, err := b.Idle()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the connection, which receive closes
	over := time.NewTimer(turn)
	defer over.Stop()
	select {
	case err := <-ended:
		if err == nil {
			err = errors.New("the server ended IDLE")
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-b.heard:
		b.turn = firstTurn
	case <-over.C:
	}
	_ = b.conn.SetDeadline(time.Now().Add(answerTime))
	if err := cmd.Close(); err != nil {
		return err
	}
	return <-ended
}

// bounded ends a connection that brings more than was asked for.
type bounded struct {
	net.Conn
	left atomic.Int64
}

var errTooMuch = errors.New("the server sent more than it was asked for")

// Read implements net.Conn.
func (b *bounded) Read(p []byte) (int, error) {
	left := b.left.Load()
	if left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), left)])
	b.left.Add(-int64(n))
	return n, err
}

// SetReadDeadline keeps our own deadline: the library sets others.
func (b *bounded) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline keeps our own deadline.
func (b *bounded) SetWriteDeadline(time.Time) error { return nil }
