// Command channel-go is an example of docs/channels/write-your-own.md: a channel for
// Hearth that is a program of its own, in Go. Package serve speaks the protocol; what
// is left is a channel.Channel. The network is that of ../channel-python: a server
// that speaks lines over TCP, each a word and a JSON value.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

func main() {
	p := serve.Program{
		Name: "lines", Version: "1", Now: time.Now, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		New: func(_ string, a channel.Account) (channel.Channel, error) { return open(a) },
	}
	if err := p.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// value is what follows the word of a line.
type value struct {
	ID   string `json:"id,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Key  string `json:"key,omitempty"`
	Text string `json:"text,omitempty"`
	Why  string `json:"why,omitempty"`
	Ms   int64  `json:"ms,omitempty"`
}

// lines is an account. It implements channel.Channel and channel.Reporter.
type lines struct {
	name, server string

	mu       sync.Mutex
	conn     net.Conn // nil: it is not connected
	status   channel.Status
	sent     int
	receipts map[string]chan value // of what is on its way
}

func open(a channel.Account) (*lines, error) {
	server := a.Texts["server"]
	if _, _, err := net.SplitHostPort(server); err != nil {
		return nil, fmt.Errorf("%w: set channels.program.options to [\"server=HOST:PORT\"]", channel.ErrRefused)
	}
	return &lines{name: a.ID, server: server, receipts: map[string]chan value{}, status: channel.Status{State: channel.Starting}}, nil
}

// ID is the network's name.
func (*lines) ID() string { return "program" }

// Account is the account's name.
func (l *lines) Account() string { return l.name }

// Limits of a message.
func (*lines) Limits() channel.Limits { return channel.Limits{Text: 200} }

// Status is how it is; serve tells the gateway when it changes.
func (l *lines) Status() channel.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Run connects, again for ever, and hands over what people write.
func (l *lines) Run(ctx context.Context, inbox channel.Inbox) error {
	for ctx.Err() == nil {
		conn, err := egress.DialNamed(ctx, l.server) // any dialer does, in a program of your own
		if err == nil {
			l.begin(conn)
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			err = l.read(ctx, conn, inbox)
			stop()
			_ = conn.Close()
		}
		l.end(fmt.Sprintf("The server %s cannot be reached: %v. It is tried again.", l.server, err))
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

func (l *lines) begin(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.status = conn, channel.Status{State: channel.Receiving, Bot: "lines"}
}

// end is the end of a connection: of what was on its way nobody knows.
func (l *lines) end(problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.status = nil, channel.Status{State: channel.Waiting, Problem: problem}
	for key, receipt := range l.receipts {
		close(receipt)
		delete(l.receipts, key)
	}
}

// read takes lines until the connection ends. What is offered to the gateway waits
// for its answer beside it, so that receipts still come in.
func (l *lines) read(ctx context.Context, conn net.Conn, inbox channel.Inbox) error {
	var work sync.WaitGroup
	defer work.Wait()
	in := bufio.NewScanner(conn)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		word, rest, _ := strings.Cut(in.Text(), " ")
		var v value
		if err := json.Unmarshal([]byte(rest), &v); err != nil {
			return fmt.Errorf("it sent %q: %w", in.Text(), err)
		}
		if word == "MSG" {
			work.Go(func() { l.take(ctx, v, inbox) })
			continue
		}
		l.mu.Lock()
		if receipt := l.receipts[v.Key]; receipt != nil {
			receipt <- v
			delete(l.receipts, v.Key)
		}
		l.mu.Unlock()
	}
	if err := in.Err(); err != nil {
		return err
	}
	return io.EOF
}

// take offers a message, and tells the server only then that it has it.
func (l *lines) take(ctx context.Context, v value, inbox channel.Inbox) {
	err := inbox(ctx, channel.Inbound{
		Channel: l.ID(), Account: l.name, Chat: channel.Direct, Conversation: v.From, SenderID: v.From, SenderName: v.From,
		MessageID: v.ID, Text: v.Text, At: time.Now(),
	})
	word := "TAKEN"
	if err != nil {
		word = "AGAIN"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.write(word, value{ID: v.ID}) // a connection that broke brings the message again
}

var errNotConnected = errors.New("not connected") // nothing was sent: it passes

// write writes a line. The lock is held.
func (l *lines) write(word string, v value) error {
	if l.conn == nil {
		return errNotConnected
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.conn, "%s %s\n", word, raw)
	return err
}

// Send sends one message, and waits for the server's receipt.
func (l *lines) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	l.mu.Lock()
	l.sent++
	key, receipt := fmt.Sprint(m.Key, "-", l.sent), make(chan value, 1)
	l.receipts[key] = receipt
	err := l.write("SEND", value{Key: key, To: m.To.Conversation, Text: m.Text})
	if err != nil {
		delete(l.receipts, key)
	}
	l.mu.Unlock()
	switch {
	case errors.Is(err, errNotConnected):
		return channel.Receipt{}, err
	case err != nil:
		return channel.Receipt{}, fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	select {
	case v, ok := <-receipt:
		if !ok {
			return channel.Receipt{}, fmt.Errorf("%w: the connection broke", channel.ErrUncertain)
		}
		return channel.Receipt{MessageID: v.ID}, meaning(v)
	case <-ctx.Done():
		return channel.Receipt{}, fmt.Errorf("%w: %w", channel.ErrUncertain, ctx.Err())
	}
}

// meaning is what a NO says.
func meaning(v value) error {
	switch v.Why {
	case "":
		return nil
	case "refused":
		return fmt.Errorf("%w: the server says so", channel.ErrRefused)
	case "auth":
		return fmt.Errorf("%w: the server says so", channel.ErrAuth)
	case "wait":
		return &channel.RateLimit{After: time.Duration(v.Ms) * time.Millisecond}
	}
	return fmt.Errorf("the server says %s", v.Why)
}
