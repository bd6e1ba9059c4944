package gateway

import (
	"errors"
	"fmt"
	"os"
)

const (
	// noRoom is when the store has used up what it keeps for a full disk.
	noRoom = 4 << 20
)

// storeDamaged is called once, by whoever met the damage.
func (g *Gateway) storeDamaged(err error) { g.damaged <- err }

// damagedError says it to whoever starts the gateway.
func (g *Gateway) damagedError(err error) error {
	var known *StartError
	if errors.As(err, &known) && known.What == damagedWhat {
		return err
	}
	fix := "`hearth store export --out FILE` saves what can be read; then restore " + g.opts.Dir.Store() + " from a backup, or move it " +
		"away to start empty"
	if st, serr := os.Stat(g.opts.Dir.LastGood()); serr == nil {
		fix = fmt.Sprintf("`hearth store restore` takes the copy of %s and keeps the damaged file; `hearth store export --out FILE` saves "+
			"what can be read", st.ModTime().Format("2 January 15:04"))
	}
	return &StartError{What: damagedWhat, Err: err, Fix: fix}
}

const damagedWhat = "Hearth's database cannot be used"
