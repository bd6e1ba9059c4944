package move

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

func (f *feature) problems() []protocol.Problem {
	if s := move.Asleep(f.Dir); s.Sleeps() {
		return []protocol.Problem{{Code: "ASLEEP", Message: s.Words()}}
	}
	return nil
}

func (f *feature) checks(context.Context, protocol.DoctorParams) []protocol.HealthCheck {
	if s := move.Asleep(f.Dir); s.Sleeps() {
		return []protocol.HealthCheck{{Area: "move", State: protocol.CheckWarn, What: strings.TrimSuffix(s.Words(), "."),
			Advice: "`hearth move status` says more"}}
	}
	return nil
}

// packAgain is how long after packing failed it is tried again.
const packAgain = time.Minute

// run packs a Hearth that was put to sleep for another machine.
func (f *feature) run(ctx context.Context) error {
	for f.Asleep.Device != "" && f.Asleep.Phase == move.Leaving {
		err := f.pack(ctx)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		f.Log.Error("this Hearth could not be packed", "err", err)
		f.mu.Lock()
		f.failed = err.Error()
		f.mu.Unlock()
		select {
		case <-time.After(packAgain):
		case <-ctx.Done():
		}
	}
	return nil
}

func (f *feature) pack(ctx context.Context) error {
	contents, err := f.Contents(ctx)
	if err != nil {
		return err
	}
	_, err = move.Pack(ctx, f.Dir, contents.Source(), f.Now(), f.packed)
	return err
}

// awake are the methods of a sleeping Hearth beside those that only read: by them its
// person looks after it.
var awake = map[string]bool{
	protocol.MethodConfigGet: true, protocol.MethodDoctor: true, protocol.MethodBackupStatus: true, protocol.MethodBackupList: true,
	protocol.MethodUpdateCheck: true, protocol.MethodUpdateRun: true, protocol.MethodUpdateBack: true, protocol.MethodPairList: true,
	protocol.MethodContactsList:  true,
	protocol.MethodSecretsStatus: true, protocol.MethodSecretsUnlock: true,
}

// Handlers are the methods of a sleeping Hearth: on its own machine those that only
// read, elsewhere those by which it is moved.
func Handlers(all map[string]server.Handler) map[string]server.Handler {
	scopes := map[string]bool{}
	for _, m := range protocol.Methods() {
		scopes[m.Name] = m.Role == protocol.RoleOperator && m.Scope == protocol.ScopeRead
	}
	out := make(map[string]server.Handler, len(all))
	for name, h := range all {
		moving := strings.HasPrefix(name, "hearth.move.")
		local := moving || scopes[name] || awake[name]
		out[name] = func(ctx context.Context, c *server.Caller, raw json.RawMessage) (any, error) {
			if moving || local && c.Local {
				return h(ctx, c, raw)
			}
			return nil, protocol.Invalid("This Hearth sleeps, because it was moved to another machine. `hearth move status` on its machine says "+
				"more.").With("code", "ASLEEP")
		}
	}
	return out
}

// Mounts are the paths of a sleeping Hearth: none of them answers.
func Mounts(all map[string]http.Handler) map[string]http.Handler {
	out := make(map[string]http.Handler, len(all))
	for path := range all {
		out[path] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "This Hearth sleeps, because it was moved to another machine.", http.StatusServiceUnavailable)
		})
	}
	return out
}
