// Package control is the feature of the tool gateway, with which the assistant
// looks at the settings, changes one that the owner agreed to, and restarts
// Hearth.
package control

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/docs"
	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/turn"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/control"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
)

const (
	// envSupervisor is set by whatever starts Hearth again when it ends: its value
	// names it, for people.
	envSupervisor = "HEARTH_SUPERVISOR"
	// restartWait is how long a restart waits for the answer that wanted it.
	restartWait = 30 * time.Second
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Settings *config.File
	Models   *provider.Registry
	Turns    *turn.Models // have the words for a model that cannot be asked
	Gate     *gate.Gate
	Sessions *session.Manager
	Work     *background.Group
	Env      func(string) string
	Restart  chan<- struct{} // ends the gateway; what starts it again is told by Env
}

// New makes the feature.
func New(o Options) host.Feature {
	return host.Feature{Tools: []tool.Tool{&control.Tool{Settings: steering{o}}}}
}

// steering shows the settings to the tool gateway.
type steering struct{ o Options }

func (steering) Path(path string) (string, error) {
	p, err := config.ParsePath(path)
	return p.String(), err
}

func (s steering) Get(path string) (string, bool, error) {
	shown, err := s.o.Settings.Snapshot().Redacted()
	if err != nil {
		return "", false, err
	}
	var at any
	if err := json.Unmarshal(shown.Config, &at); err != nil {
		return "", false, err
	}
	if path != "" {
		p, err := config.ParsePath(path)
		if err != nil {
			return "", false, err
		}
		var ok bool
		if at, ok = p.In(at); !ok {
			return "", false, nil
		}
	}
	out, err := json.MarshalIndent(at, "", "  ")
	return string(out), err == nil, err
}

func (s steering) Written(path string) (string, error) {
	v, _, err := s.o.Settings.Snapshot().Get(path)
	return string(v), err
}

func (steering) Manual() string { return docs.Configuration }

// Change writes exactly what the owner agreed to, over exactly what they saw.
func (s steering) Change(ctx context.Context, call tool.Call, c control.Change) error {
	if err := s.modelsKnown(ctx, c); err != nil {
		return err
	}
	if _, err := s.o.Gate.Permit(ctx, call, askConfig(call, c)); err != nil {
		return err
	}
	base := s.o.Settings.Snapshot().Hash
	if now, err := s.Written(c.Path); err != nil || now != c.Old {
		return errors.New("the setting was changed by somebody else while the person decided, so nothing was done; look at it again")
	}
	return s.write(ctx, base, c)
}

// modelsKnown refuses a change to a model that cannot be asked: each message
// after it would fail, also the one that takes it back.
func (s steering) modelsKnown(ctx context.Context, c control.Change) error {
	if !modelSetting.MatchString(c.Path) || c.New == "" {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(c.New), &v); err != nil {
		return nil //nolint:nilerr // the settings' own check says what is wrong with it
	}
	for _, name := range modelNames(v, nil) {
		ref := s.o.Models.Named(name)
		if _, err := s.o.Models.Resolve(ctx, ref); err != nil {
			return fmt.Errorf("%s was not changed: %s cannot be asked: %s", c.Path, plan.Show(name), s.o.Turns.Words(err, ref))
		}
	}
	return nil
}

// modelSetting are the settings that name models.
var modelSetting = regexp.MustCompile(`^agents\.defaults\.(model|imageModel|subagents\.model)(\.primary|\.fallbacks(\[\d+\])?)?$`)

func modelNames(v any, names []string) []string {
	switch v := v.(type) {
	case string:
		return append(names, v)
	case []any:
		for _, e := range v {
			names = modelNames(e, names)
		}
	case map[string]any:
		names = modelNames(v["fallbacks"], modelNames(v["primary"], names))
	}
	return names
}

// write is bound to the text of the file that was looked at.
func (s steering) write(ctx context.Context, base string, c control.Change) error {
	if s.o.Settings.Snapshot().Hash != base {
		return config.ErrStale
	}
	var err error
	if c.New == "" {
		_, err = s.o.Settings.UnsetPath(ctx, c.Path)
	} else {
		_, err = s.o.Settings.SetPath(ctx, c.Path, c.New)
	}
	return err
}

func askConfig(call tool.Call, c control.Change) approval.Ask {
	words := func(v, none string) string {
		if v == "" {
			return none
		}
		return plan.Show(v)
	}
	a := approval.For(approval.KindConfig, call)
	a.Tool, a.Command = "gateway", c.Path+" = "+words(c.New, "(default)")
	a.Title = "Change the setting " + plan.Show(c.Path)
	a.Says = sentence.New("setting", "name", c.Path)
	a.Why = c.Reason
	a.Lines = []string{"Setting: " + plan.Show(c.Path), "Now: " + words(c.Old, "(default)"), "Then: " + words(c.New, "(default)")}
	a.Digest = sha256.Sum256([]byte(c.Path + "\x00" + c.Old + "\x00" + c.New))
	return a
}

// Restart ends the gateway when something starts it again, after the answer
// that asked for it.
func (s steering) Restart(ctx context.Context, call tool.Call, reason string) error {
	by := strings.TrimSpace(s.o.Env(envSupervisor))
	if by == "" {
		return fmt.Errorf("not restarted: nothing would start Hearth again (%s is not set). Ask the person to stop `hearth gateway` and to "+
			"start it again", envSupervisor)
	}
	a := approval.For(approval.KindConfig, call)
	a.Tool, a.Title, a.Why, a.Command = "gateway", "Restart Hearth", reason, "restart"
	a.Says = sentence.New("restart")
	a.Lines = []string{"Hearth ends, and " + plan.Show(by) + " starts it again. Running answers are taken up."}
	if _, err := s.o.Gate.Permit(ctx, call, a); err != nil {
		return err
	}
	s.o.Work.Go(func(context.Context) { s.restartAfter(call.RunID) })
	return nil
}

func (s steering) restartAfter(runID string) {
	ctx, stop := context.WithTimeout(s.o.Work.Context(), restartWait)
	defer stop()
	_, _ = s.o.Sessions.Wait(ctx, runID) // whatever became of it
	select {
	case s.o.Restart <- struct{}{}:
	default:
	}
}
