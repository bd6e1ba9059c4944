package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

// submissionTime is how long a server may take to accept a whole message.
const submissionTime = 5 * time.Minute

// Send sends one mail. The server's word after it is the receipt.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	to := m.To.Conversation
	if !email.IsAddress(to) {
		return channel.Receipt{}, fmt.Errorf("%w: %q is no address", channel.ErrRefused, to)
	}
	if strings.EqualFold(to, c.address) {
		return channel.Receipt{}, fmt.Errorf("%w: %s is the assistant's own address", channel.ErrRefused, to)
	}
	raw, id, err := c.compose(m)
	if err != nil {
		return channel.Receipt{}, err
	}
	select {
	case c.sends <- struct{}{}:
		defer func() { <-c.sends }()
	case <-ctx.Done():
		return channel.Receipt{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	if err := c.submit(ctx, to, raw); err != nil {
		return channel.Receipt{}, err
	}
	return channel.Receipt{MessageID: id}, nil
}

// submit gives a mail to the server.
func (c *Client) submit(ctx context.Context, to string, raw []byte) error {
	conn, err := egress.DialNamed(ctx, net.JoinHostPort(c.smtp.host, c.smtp.port))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	s, err := c.greet(conn)
	if err != nil {
		return err
	}
	if err := c.login(s); err != nil {
		return err
	}
	if err := s.Mail(c.address, nil); err != nil {
		return c.answer("the sender", err)
	}
	if err := s.Rcpt(to, nil); err != nil {
		return c.answer("the recipient "+to, err)
	}
	w, err := s.Data()
	if err != nil {
		return c.answer("the message", err)
	}
	if _, err := w.Write(raw); err != nil {
		return fmt.Errorf("send the message: %w", err) // it has no end yet, so nobody takes it
	}
	if err := w.Close(); err != nil {
		var said *smtp.SMTPError
		if errors.As(err, &said) {
			return c.answer("the message", err)
		}
		return fmt.Errorf("%w: %s did not answer after the message: %w", channel.ErrUncertain, c.smtp.host, err)
	}
	_ = s.Quit() // it has the message
	return nil
}

// greet begins to talk with the server.
func (c *Client) greet(conn net.Conn) (s *smtp.Client, err error) {
	conf := &tls.Config{ServerName: c.smtp.host, MinVersion: tls.VersionTLS12}
	_ = conn.SetDeadline(time.Now().Add(connectTime))
	switch c.smtp.security {
	case fromTheStart:
		s = smtp.NewClient(tls.Client(conn, conf))
	case plain:
		s = smtp.NewClient(conn)
	default:
		if s, err = smtp.NewClientStartTLS(conn, conf); err != nil {
			return nil, fmt.Errorf("%s does not encrypt the connection: %w", c.smtp.host, err)
		}
	}
	s.CommandTimeout, s.SubmissionTimeout = answerTime, submissionTime
	if err := s.Hello("localhost"); err != nil {
		return nil, fmt.Errorf("%s does not answer as a mail server: %w", c.smtp.host, err)
	}
	return s, nil
}

func (c *Client) login(s *smtp.Client) error {
	var how sasl.Client
	switch {
	case s.SupportsAuth(sasl.Plain):
		how = sasl.NewPlainClient("", c.user, c.password)
	case s.SupportsAuth(sasl.Login):
		how = sasl.NewLoginClient(c.user, c.password)
	default:
		return fmt.Errorf("%w: %s takes no password", channel.ErrAuth, c.smtp.host)
	}
	err := s.Auth(how)
	var said *smtp.SMTPError
	if errors.As(err, &said) && said.Code >= 500 {
		return fmt.Errorf("%w: %s did not let %s in: %s. Check username and password; some providers want a password for this program alone",
			channel.ErrAuth, c.smtp.host, c.user, line(said.Message, 300))
	}
	return err
}

// authCodes are answers that speak of the account, whatever was asked.
var authCodes = []int{530, 534, 535, 538}

// answer is what the server's answer to something means.
func (c *Client) answer(what string, err error) error {
	var said *smtp.SMTPError
	if !errors.As(err, &said) {
		return fmt.Errorf("%s: %w", c.smtp.host, err)
	}
	words := fmt.Sprintf("%s says of %s: %d %s", c.smtp.host, what, said.Code, line(said.Message, 300))
	switch {
	case slices.Contains(authCodes, said.Code):
		return fmt.Errorf("%w: %s", channel.ErrAuth, words)
	case said.Code >= 500:
		return fmt.Errorf("%w: %s", channel.ErrRefused, words)
	}
	return errors.New(words)
}
