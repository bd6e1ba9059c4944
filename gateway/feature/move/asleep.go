package move

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// SureWords are said before a Hearth is woken whose twin may be awake.
const SureWords = "The other machine has everything of this Hearth and may be awake. If both are, two answer as the same one: messages are " +
	"answered twice or by the wrong one, and each learns what the other does not. Go to the other machine, stop Hearth there for good, and " +
	"only then wake this one."

// Words say that a Hearth sleeps, why, and what can be done.
func Words(s *move.State) string {
	since := s.At.Local().Format("2 January 15:04")
	switch {
	case s.Phase == move.Leaving && s.Device == "":
		return fmt.Sprintf("This Hearth sleeps since %s, because it is being moved into a file. It answers nobody. `hearth move export FILE` goes "+
			"on; `hearth move wake` wakes it, and nothing is lost.", since)
	case s.Phase == move.Leaving:
		return fmt.Sprintf("This Hearth sleeps since %s, because it is being moved to %s. It answers nobody. `hearth move from` there goes on; "+
			"`hearth move wake` wakes it here, and nothing is lost.", since, s.Name)
	case s.File != "":
		return fmt.Sprintf("This Hearth sleeps since %s, because it was moved into the file %s. It answers nobody. Should that file not be used, "+
			"`hearth move wake` wakes it here.", since, s.File)
	case s.Arrived:
		return fmt.Sprintf("This Hearth sleeps since %s: it was moved to %s, and is awake there. It answers nobody. You can remove it from this "+
			"machine.", since, s.Name)
	}
	return fmt.Sprintf("This Hearth sleeps since %s, because it was moved to %s. It answers nobody. Look there whether it is awake; only if it "+
		"never will be, `hearth move wake` wakes it here.", since, s.Name)
}

func (f *feature) problems() []protocol.Problem {
	if s := move.Asleep(f.Dir); s != nil {
		return []protocol.Problem{{Code: "ASLEEP", Message: Words(s)}}
	}
	return nil
}

func (f *feature) checks(context.Context, protocol.DoctorParams) []protocol.HealthCheck {
	if s := move.Asleep(f.Dir); s != nil {
		return []protocol.HealthCheck{{Area: "move", State: protocol.CheckWarn, What: strings.TrimSuffix(Words(s), "."),
			Advice: "`hearth move status` says more"}}
	}
	return nil
}

// packAgain is how long after packing failed it is tried again.
const packAgain = time.Minute

// run packs a Hearth that was put to sleep for another machine.
func (f *feature) run(ctx context.Context) error {
	for f.Asleep != nil && f.Asleep.Device != "" && f.Asleep.Phase == move.Leaving {
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
	protocol.MethodSecretsStatus: true,
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
