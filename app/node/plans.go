package node

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// Plans wait for their yes this long: longer than a question may be open.
const (
	planLife = 15 * time.Minute
	maxPlans = 64
)

// prepared is a plan that was made here and told to the gateway. A yes counts
// for it alone, once.
type prepared struct {
	id         string
	plan       plan.Plan
	agent      string
	session    string
	unconfined bool
	asked      bool // to be so
	pin        bool // what it runs from files is kept as it was approved
	at         time.Time
}

func (p prepared) digest() string { return hex.EncodeToString(p.plan.Digest[:]) }

// plans are those that wait, oldest first.
type plans struct {
	now func() time.Time
	mu  sync.Mutex
	all []prepared
}

func (l *plans) add(p prepared) prepared {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune()
	if len(l.all) >= maxPlans {
		l.all = l.all[1:]
	}
	p.id, p.at = rand.Text(), l.now()
	l.all = append(l.all, p)
	return p
}

func (l *plans) prune() {
	now := l.now()
	l.all = slices.DeleteFunc(l.all, func(p prepared) bool { return now.Sub(p.at) > planLife })
}

// take returns the one that is meant and forgets it. Plans are named by their id
// or, by gateways that do not keep it, by what they say.
func (l *plans) take(r runPlan, agent, session string) (prepared, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune()
	at := slices.IndexFunc(l.all, func(p prepared) bool {
		same := slices.Equal(p.plan.Argv, r.Argv) && (r.Cwd == "" || r.Cwd == p.plan.Dir) && p.agent == agent && p.session == session
		return same && (r.ID == p.id && r.Digest == p.digest() || r.ID == "" && r.Digest == "" && !p.asked)
	})
	if at < 0 {
		return prepared{}, false
	}
	p := l.all[at]
	l.all = slices.Delete(l.all, at, at+1)
	return p, true
}
