// Package pause is the feature that lets a person stop Hearth from acting: the
// methods hearth.pause.* and the commands /pause and /resume. The switch, which
// tools and models look at, is package gateway/pause's.
package pause

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Switch *pause.Switch
	Clock  *clock.Clock
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodPauseGet, f.get),
			method.Called(protocol.MethodPauseSet, f.set),
		},
		Commands: []command.Command{
			{Spec: command.Spec{
				Name: "pause", Args: "[tools|network|everything] [1h]", Description: "Stop Hearth from acting", Category: "tools",
				Choices: []string{"tools", "network", "everything"},
			}, Do: f.cmdPause},
			{Spec: command.Spec{Name: "resume", Description: "End the pause", Category: "tools"}, Do: f.cmdResume},
		},
	}
}

func (f feature) get(context.Context, method.None) (protocol.Pause, error) {
	return f.o.Switch.Get().Wire(), nil
}

func (f feature) set(ctx context.Context, c *server.Caller, p protocol.PauseSetParams) (protocol.Pause, error) {
	st, err := f.o.Switch.Set(ctx, pause.Level(p.Level), method.Duration(p.DurationMs), method.CallerName(c), p.Reason)
	if errors.Is(err, pause.ErrLevel) || errors.Is(err, pause.ErrLength) {
		return protocol.Pause{}, protocol.InvalidParams(protocol.MethodPauseSet, "%v", err)
	}
	return st.Wire(), err
}

func (f feature) cmdPause(ctx context.Context, _, args string) (string, error) {
	level, length := pause.Everything, time.Duration(0)
	for _, w := range strings.Fields(strings.ToLower(args)) {
		if d, err := time.ParseDuration(w); err == nil && d > 0 {
			length = d
			continue
		}
		level = pause.Level(w)
	}
	st, err := f.o.Switch.Set(ctx, level, length, "/pause", "")
	if errors.Is(err, pause.ErrLevel) || errors.Is(err, pause.ErrLength) {
		return "Pause what? Choose tools, network or everything, and how long if you want: `/pause tools 1h`.", nil
	}
	if err != nil {
		return "", err
	}
	return f.words(st), nil
}

func (f feature) cmdResume(ctx context.Context, _, _ string) (string, error) {
	if f.o.Switch.Get().Level == pause.Off {
		return "Hearth is not paused.", nil
	}
	_, err := f.o.Switch.Set(ctx, pause.Off, 0, "/resume", "")
	return "Hearth goes on.", err
}

func (f feature) words(st pause.State) string {
	what := map[pause.Level]string{
		pause.Off: "Hearth is not paused.", pause.Tools: "Paused: no tool starts.", pause.Network: "Paused: no tool starts, and no model " +
			"outside this machine is called.",
		pause.Everything: "Paused: nothing is answered. Messages wait.",
	}[st.Level]
	if st.UntilMs > 0 {
		return what + " It ends at " + f.o.Clock.Words(st.UntilMs) + ", or with `/resume`."
	}
	if st.Level != pause.Off {
		return what + " `/resume` ends it."
	}
	return what
}
