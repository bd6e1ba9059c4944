// Package codemode is the feature of code mode: a run's tools behind two that run
// programs, and hearth.code.run, which runs a program of a person. How a program
// lives and what it may call is package gateway/codemode's.
package codemode

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/codemode/typescript"
	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// envDebug logs what happens to programs.
const envDebug = "HEARTH_DEBUG_CODE_MODE"

// Clients hear what a program says while it runs.
type Clients interface{ Broadcast(e server.Broadcast) }

// Options are the parts that the feature needs; all of them.
type Options struct {
	Dir      statedir.Dir
	Env      func(string) string
	Store    *store.DB
	Settings *config.File
	Sessions *session.Manager
	Tools    *tool.Catalog
	Gate     *gate.Gate
	Direct   *gate.Direct
	Brought  gate.Programs // which tools the program outside that asks has itself
	Clients  Clients
	Secrets  *redact.Redactor
	Now      func() time.Time
	Log      *slog.Logger
}

// CodeMode is the feature. A nil one is switched off: tools stay as they are.
type CodeMode struct {
	o        Options
	machine  *engine.Engine
	programs *codemode.Runs
	loaded   atomic.Bool // the machine is, or is being
	work     *background.Group
}

// Open makes what keeps programs. Nothing is loaded before the first.
func Open(ctx context.Context, o Options) (*CodeMode, error) {
	key, err := snapshotKey(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("programs that wait cannot be kept: %w", err)
	}
	c := &CodeMode{o: o, work: background.New(ctx)}
	c.machine = engine.New(engine.Options{CacheDir: o.Dir.CodeCache(), Key: key, Log: o.Log, Now: o.Now})
	c.programs = codemode.New(codemode.Options{
		Engine: c.machine, DB: o.Store, Now: o.Now, NewID: uuid.New, Log: o.Log, Prepare: workbench.Prepare, Locate: typescript.Mistake,
		Debug: strings.TrimSpace(o.Env(envDebug)) == "1",
		Watch: func() codemode.Watch { return agent.NewRepeats() },
		Record: func(ctx context.Context) (codemode.Recorder, bool) {
			n, ok := session.NestedCallsOf(ctx)
			return n, ok
		},
	})
	return c, nil
}

// Feature is what it adds.
func (c *CodeMode) Feature() host.Feature {
	return host.Feature{
		Methods: []method.Method{method.Called(protocol.MethodCodeRun, c.run)},
		Run:     c.tidy,
		Close: func(ctx context.Context) error {
			c.work.Close()
			c.programs.Close()
			if err := c.machine.Close(ctx); err != nil {
				return fmt.Errorf("close the engine of code mode: %w", err)
			}
			return nil
		},
	}
}

// snapshotKey vouches for programs that wait: what comes back is what was put
// away, also after a restart.
func snapshotKey(dir statedir.Dir) ([]byte, error) {
	secret, err := statedir.Random(dir.DeviceKey(), 32)
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(secret)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte("hearth code mode snapshots 1"))
	return mac.Sum(nil), nil
}

// on reports whether an agent works in code mode.
func (c *CodeMode) on(agentID string) bool {
	return workbench.On(c.o.Settings.Snapshot().Config, agentID)
}

// Surface is a run's tools as its model gets to see them: as they are, or in code
// mode behind exec and wait. A run without tools has no use for programs.
func (c *CodeMode) Surface(scope tool.Scope, tools *tool.Set) *tool.Set {
	if c == nil || tools.Empty() || !c.on(scope.AgentID) {
		return tools
	}
	shown, err := c.programs.Surface(c.settings(), tools, func(name string) codemode.Origin {
		if c.o.Brought.HasTool(scope.RunID, name) {
			return codemode.Origin{Source: codemode.SourceClient, Owner: "app", Name: name}
		}
		return workbench.Origin(name)
	})
	if err != nil { // two tools of different names are no mistake
		c.o.Log.Error("code mode cannot be used, so there are no tools", "err", err)
		return tools.Only(func(string) bool { return false })
	}
	if c.loaded.CompareAndSwap(false, true) { // while the model still thinks
		c.work.Go(c.warm)
	}
	return shown.Redact(c.o.Secrets).Before(c.o.Gate.BeforeProgram)
}

func (c *CodeMode) settings() codemode.Settings {
	return workbench.Settings(workbench.Section.Of(c.o.Settings.Snapshot().Config))
}

// Suspended reports whether a program of the run waits in the store, from before
// a start of Hearth.
func (c *CodeMode) Suspended(tx *store.Tx, runID string) bool {
	return c != nil && c.programs.Suspended(tx, runID)
}

// Over forgets a run that has ended, with the programs of it that wait.
func (c *CodeMode) Over(ctx context.Context, runID string) {
	if c != nil {
		c.programs.Over(ctx, runID)
	}
}

// WithoutPrograms leaves out of a model's message the calls that run programs: a
// program outside that brought tools of these names is not asked for them.
func (c *CodeMode) WithoutPrograms(runID string, msg model.Message) model.Message {
	ours := func(b model.Block) bool {
		t := b.ToolCall
		if t == nil || t.Name != codemode.Exec && t.Name != codemode.Wait || !c.o.Brought.HasTool(runID, t.Name) {
			return false
		}
		rec, err := c.o.Sessions.Why("", runID)
		return err == nil && c.on(session.AgentOf(rec.SessionKey))
	}
	if c != nil && slices.ContainsFunc(msg.Blocks, ours) {
		msg.Blocks = slices.DeleteFunc(slices.Clone(msg.Blocks), ours)
	}
	return msg
}

// tidy deletes what waited for runs that are over.
func (c *CodeMode) tidy(ctx context.Context) error {
	err := c.programs.Sweep(ctx, func(runID string) bool {
		rec, err := c.o.Sessions.Why("", runID)
		return err == nil && !rec.State.Ended()
	})
	if err != nil {
		c.o.Log.Warn("programs that waited could not be tidied up", "err", err)
	}
	return nil
}

// warm loads the engine ahead of the first program.
func (c *CodeMode) warm(ctx context.Context) {
	if err := c.machine.Warm(ctx); err != nil && !errors.Is(err, context.Canceled) {
		c.o.Log.Error("code mode is switched on and cannot be used; answers have no tools until it can", "err",
			fmt.Errorf("load the engine: %w", err))
	}
}
