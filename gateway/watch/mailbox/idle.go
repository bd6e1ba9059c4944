package mailbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

const (
	// idleTurn is after how long IDLE is begun again: a connection whose other end is
	// gone is noticed then.
	idleTurn = 10 * time.Minute
	// answerTime is how long a server has to answer between two turns.
	answerTime = time.Minute
	// leastRest and mostRest are how long a server is left alone that ended IDLE: a
	// wrong password must not be said again and again.
	leastRest = time.Minute
	mostRest  = time.Hour
)

// errNoIdle: the server does not offer IDLE.
var errNoIdle = errors.New("the mail server does not offer IDLE")

// Notices implements watch.Noticer: a server that offers IDLE says when something
// has come. The mailbox is looked at now and then all the same.
func (s *Mailbox) Notices(ctx context.Context, wake func()) error {
	for rest := leastRest; ; {
		began := time.Now()
		err := s.idle(ctx, wake)
		if ctx.Err() != nil || errors.Is(err, errNoIdle) {
			return err
		}
		if time.Since(began) > idleTurn {
			rest = leastRest
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
		}
		rest = min(2*rest, mostRest)
	}
}

// idle listens over one connection, until it ends.
func (s *Mailbox) idle(ctx context.Context, wake func()) error {
	c, conn, end, err := s.open(ctx, &imapclient.UnilateralDataHandler{Mailbox: func(said *imapclient.UnilateralDataMailbox) {
		if said.NumMessages != nil {
			wake()
		}
	}})
	if err != nil {
		return err
	}
	defer end()
	if !c.Caps().Has(imap.CapIdle) {
		return errNoIdle
	}
	if _, err := c.Select(s.Folder, &imap.SelectOptions{ReadOnly: true}).Wait(); err != nil {
		return fmt.Errorf("the folder %s cannot be opened: %w", s.Folder, err)
	}
	wake() // what came while nobody listened
	for {
		if err := s.idleOnce(ctx, c, func(d time.Duration) { _ = conn.SetDeadline(time.Now().Add(d)) }); err != nil {
			return err
		}
	}
}

// idleOnce listens for one turn; within sets when the connection ends.
func (*Mailbox) idleOnce(ctx context.Context, c *imapclient.Client, within func(time.Duration)) error {
	within(idleTurn + answerTime)
	cmd, err := c.Idle()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the connection, which its caller closes
	turn := time.NewTimer(idleTurn)
	defer turn.Stop()
	select {
	case err := <-ended:
		if err == nil {
			err = errors.New("the mail server ended IDLE")
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-turn.C:
	}
	within(answerTime)
	if err := cmd.Close(); err != nil {
		return err
	}
	return <-ended
}
