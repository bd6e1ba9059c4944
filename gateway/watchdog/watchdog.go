// Package watchdog notices when a part of the gateway does not move any more: a
// lock that nobody gives back, a disk that does not answer. Such a gateway looks
// alive and does nothing, which is worse than one that ended. It asks the parts it
// was given, one question each, and says who does not answer; it mends nothing
// itself and knows none of them.
package watchdog

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const (
	every  = 30 * time.Second
	stuck  = 60 * time.Second
	giveUp = 180 * time.Second
	// longestDump is what is kept of the stacks of all goroutines.
	longestDump = 4 << 20
)

// Part is something that is asked; Ask returns when it moves. Time in which the
// computer sleeps does not count.
type Part struct {
	Name string // for people: "the database"
	Ask  func()
}

// Keep is what is usually done about parts that do not move: it writes down what
// they were doing and gives the gateway up.
type Keep struct {
	File   string                          // takes the stacks
	Broke  func(where string, failure any) // keeps the failure for `hearth doctor`
	GaveUp chan<- error                    // is told once, with room for it
	Logger *slog.Logger
}

// Options are those of Run.
func (k Keep) Options(parts ...Part) Options {
	return Options{
		Parts: parts,
		Stuck: func(part string, stacks []byte) {
			err := statedir.WriteFile(k.File, stacks)
			k.Logger.Error("a part of Hearth does not move any more", "part", part, "stacks", k.File, "err", err)
			k.Broke(part, "it has not answered for a minute; what it was doing is in "+k.File)
		},
		GiveUp: func(part string) {
			err := fmt.Errorf("%s has not answered for three minutes, so Hearth ends here and can be started again; "+
				"what it was doing is in %s", part, k.File)
			k.Logger.Error("the gateway gives itself up", "err", err)
			select {
			case k.GaveUp <- err:
			default:
			}
		},
	}
}

// Options of Run.
type Options struct {
	Parts []Part
	// Stuck hears once of each part that has not answered for a minute, with what
	// every goroutine was doing.
	Stuck func(part string, stacks []byte)
	// GiveUp hears of one that has not for three.
	GiveUp func(part string)
}

// Run asks until ctx ends. It does not wait for parts that do not answer.
func Run(ctx context.Context, o Options) {
	asked := make([]sync.Mutex, len(o.Parts))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for i, p := range o.Parts {
			if !asked[i].TryLock() {
				continue // it still owes an answer
			}
			go func() {
				defer asked[i].Unlock()
				o.ask(ctx, p)
			}()
		}
	}
}

func (o Options) ask(ctx context.Context, p Part) {
	unless := func(f func()) func() {
		return func() {
			if ctx.Err() == nil {
				f()
			}
		}
	}
	late := awake.AfterFunc(stuck, unless(func() { o.Stuck(p.Name, stacks()) }))
	defer late.Stop()
	gone := awake.AfterFunc(giveUp, unless(func() { o.GiveUp(p.Name) }))
	defer gone.Stop()
	p.Ask()
}

// stacks is what every goroutine does just now. It holds no words of people:
// arguments are numbers and addresses.
func stacks() []byte {
	b := make([]byte, longestDump)
	return b[:runtime.Stack(b, true)]
}
