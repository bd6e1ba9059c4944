package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// noRoom is when the store has used up what it keeps for a full disk.
	noRoom = 4 << 20
	// copyFirst is how long after the start the store is first copied: a start
	// has other things to do.
	copyFirst = 2 * time.Minute
	// copyEvery is how old the last good copy may become.
	copyEvery = 24 * time.Hour
	// copyMargin is what a copy leaves free on the disk.
	copyMargin = 1 << 30
)

// damagedWords are for whoever asked for something that cannot be read.
const damagedWords = "A part of Hearth's database is damaged, so this cannot be done. Stop the gateway, then `hearth store check` says what is left, `hearth store export` saves it and `hearth store restore` takes the last good copy."

// storeDamaged is called once, by whoever met the damage.
func (g *Gateway) storeDamaged(err error) { g.damaged <- err }

// damagedError says it to whoever starts the gateway.
func (g *Gateway) damagedError(err error) error {
	var known *StartError
	if errors.As(err, &known) && known.What == damagedWhat {
		return err
	}
	fix := "`hearth store export --out FILE` saves what can be read; then restore " + g.opts.Dir.Store() + " from a backup, or move it away to start empty"
	if st, serr := os.Stat(g.opts.Dir.LastGood()); serr == nil {
		fix = fmt.Sprintf("`hearth store restore` takes the copy of %s and keeps the damaged file; `hearth store export --out FILE` saves what can be read", st.ModTime().Format("2 January 15:04"))
	}
	return &StartError{What: damagedWhat, Err: err, Fix: fix}
}

const damagedWhat = "Hearth's database cannot be used"

// storeProblems are those that a person should know about.
func (g *Gateway) storeProblems() []protocol.Problem {
	problem := func(text string) []protocol.Problem { return []protocol.Problem{{Code: "STORE", Message: text}} }
	switch err := g.store.Problem(); {
	case errors.Is(err, store.ErrDamaged):
		return problem(damagedWords)
	case errors.Is(err, store.ErrGone):
		return problem("New messages are not accepted: " + method.GoneWords(err))
	case err != nil:
		return problem("New messages are not accepted: " + err.Error() + ". Make room on the disk, or restart Hearth; what was accepted is safe.")
	}
	if free, ok := g.opts.Dir.Free(); ok && free < statedir.Full {
		return problem(fmt.Sprintf("The disk is full: %d MB are left. Make room; soon new messages are not accepted, what was accepted is safe.", free>>20))
	}
	if err := g.store.Blemish(); err != nil {
		return problem("Something in Hearth's database cannot be read: " + err.Error() + ". Stop the gateway, then `hearth store check` says what is left, and `hearth store restore` takes the last good copy.")
	}
	return nil
}

// copyStore keeps a good copy of the store, made once a day, until ctx ends.
func (g *Gateway) copyStore(ctx context.Context) {
	for wait := copyFirst; ; wait = time.Hour {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if !g.copyDue() {
			continue
		}
		if err := g.store.Copy(ctx, g.opts.Dir.LastGood()); err != nil && ctx.Err() == nil {
			g.log.Warn("the store could not be copied", "err", err)
		}
	}
}

// copyDue: the last copy is old, the store was changed since, and there is much
// room on the disk.
func (g *Gateway) copyDue() bool {
	if g.store.Problem() != nil || g.store.Blemish() != nil {
		return false
	}
	if st, err := os.Stat(g.opts.Dir.LastGood()); err == nil {
		now, nerr := os.Stat(g.opts.Dir.Store())
		if g.opts.Now().Sub(st.ModTime()) < copyEvery || nerr == nil && now.ModTime().Before(st.ModTime()) {
			return false
		}
	}
	free, ok := g.opts.Dir.Free()
	return !ok || free > 2*g.store.Size()+copyMargin
}
