package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
	"github.com/hearth-assistant/hearth/gateway/codemode/typescript"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// Code mode: a run's tools behind two that run programs.

// envDebugCode logs what happens to programs.
const envDebugCode = "HEARTH_DEBUG_CODE_MODE"

// openCodeMode makes what keeps programs. Nothing is loaded before the first.
func (g *Gateway) openCodeMode() error {
	key, err := g.snapshotKey()
	if err != nil {
		return &StartError{What: "Programs that wait cannot be kept", Err: err, Fix: "Remove " + g.opts.Dir.DeviceKey() + "; paired browsers then need a new link from `hearth open`"}
	}
	g.machine = engine.New(engine.Options{CacheDir: g.opts.Dir.CodeCache(), Key: key, Log: g.log, Now: g.opts.Now})
	g.programs = codemode.New(codemode.Options{
		Engine: g.machine, DB: g.store, Now: g.opts.Now, NewID: newUUID, Log: g.log, Prepare: prepareProgram, Locate: typescript.Mistake,
		Debug: strings.TrimSpace(g.opts.Env(envDebugCode)) == "1",
		Watch: func() codemode.Watch { return agent.NewRepeats() },
		Record: func(ctx context.Context) (codemode.Recorder, bool) {
			n, ok := session.NestOf(ctx)
			return n, ok
		},
	})
	return nil
}

// snapshotKey vouches for programs that wait: what comes back is what was put
// away, also after a restart.
func (g *Gateway) snapshotKey() ([]byte, error) {
	secret, err := statedir.Random(g.opts.Dir.DeviceKey(), 32)
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

// codeModeOn reports whether an agent works in code mode.
func (g *Gateway) codeModeOn(agentID string) bool {
	c := g.config.Snapshot().Config
	for _, a := range c.Agents.List {
		if a.ID == agentID && a.CodeMode != nil {
			return *a.CodeMode
		}
	}
	return c.Tools.CodeMode.Enabled
}

// behindPrograms is a run's tools as its model gets to see them: as they are, or
// in code mode behind exec and wait. A run without tools has no use for programs.
func (g *Gateway) behindPrograms(scope tool.Scope, tools *tool.Set) *tool.Set {
	if tools.Empty() || !g.codeModeOn(scope.AgentID) {
		return tools
	}
	c := g.config.Snapshot().Config.Tools.CodeMode
	shown, err := g.programs.Surface(codeSettings(c), tools, func(name string) codemode.Origin {
		if g.hook.HasTool(scope.RunID, name) {
			return codemode.Origin{Source: codemode.SourceClient, Owner: "app", Name: name}
		}
		return toolOrigin(name)
	})
	if err != nil { // two tools of different names are no mistake
		g.log.Error("code mode cannot be used, so there are no tools", "err", err)
		return tools.Only(func(string) bool { return false })
	}
	if g.machineLoaded.CompareAndSwap(false, true) { // while the model still thinks
		g.work.Go(func(context.Context) { g.warmPrograms(g.work.Context()) })
	}
	return shown.Redact(&g.redactor).Before(g.beforeProgram)
}

func codeSettings(c config.CodeMode) codemode.Settings {
	return codemode.Settings{
		Languages: c.Languages, Timeout: time.Duration(c.TimeoutMs) * time.Millisecond, Memory: int64(c.MemoryLimitBytes), Output: c.MaxOutputBytes,
		Snapshot: c.MaxSnapshotBytes, Pending: c.MaxPendingToolCalls, TTL: time.Duration(c.SnapshotTTLSeconds) * time.Second,
		SearchDefault: c.SearchDefaultLimit, SearchMost: c.MaxSearchLimit,
	}
}

// toolOrigin says where a tool comes from, for the ids of the catalogue.
func toolOrigin(name string) codemode.Origin {
	if rest, ok := strings.CutPrefix(name, mcp.Prefix); ok {
		if server, own, ok := strings.Cut(rest, "__"); ok {
			return codemode.Origin{Source: codemode.SourceMCP, Owner: server, Name: own}
		}
	}
	group := policy.GroupOf(name)
	return codemode.Origin{Source: codemode.SourceHearth, Owner: "core", Name: name, Verbatim: group == "group:fs" || group == "group:runtime" || name == "web_fetch"}
}

// beforeProgram stands in front of exec and wait. Their programs' calls pass
// beforeTool, each by itself.
func (g *Gateway) beforeProgram(_ context.Context, name string, call tool.Call) error {
	if err := g.pause.Check(pause.UseTool); err != nil {
		return err
	}
	g.audit.Add(audit.Entry{
		Kind: audit.KindTool, What: "ran a program", Who: strings.TrimSuffix(call.Surface+":"+call.Sender, ":"), Session: call.SessionKey, Run: call.RunID,
		Facts: map[string]string{"call": call.ID, "tool": name, "args": string(call.Args)},
	})
	return nil
}

// withoutPrograms leaves out of a model's message the calls that run programs: a
// program outside that brought tools of these names is not asked for them.
func (g *Gateway) withoutPrograms(runID string, msg model.Message) model.Message {
	ours := func(b model.Block) bool {
		c := b.ToolCall
		if c == nil || c.Name != codemode.Exec && c.Name != codemode.Wait || !g.hook.HasTool(runID, c.Name) {
			return false
		}
		rec, err := g.session.Why("", runID)
		return err == nil && g.codeModeOn(session.AgentOf(rec.SessionKey))
	}
	if slices.ContainsFunc(msg.Blocks, ours) {
		msg.Blocks = slices.DeleteFunc(slices.Clone(msg.Blocks), ours)
	}
	return msg
}

// prepareProgram makes JavaScript of a program, with the way back to the
// places of its text, and refuses one that asks for modules.
func prepareProgram(ctx context.Context, code, language string) (string, *sourcemap.Map, *engine.Error) {
	var err error
	var places *sourcemap.Map
	if language == codemode.TypeScript {
		code, places, err = typescript.Transform(ctx, code)
	} else {
		err = typescript.Modules(ctx, code)
	}
	var module *typescript.ModuleError
	var wrong *typescript.Error
	switch {
	case err == nil:
		return code, places, nil
	case errors.As(err, &module):
		return "", nil, &engine.Error{Code: engine.ModuleAccessDenied, Message: module.What + " is not available: a program has no modules, only the tools of its catalogue", Line: module.Line, Column: module.Column}
	case errors.As(err, &wrong):
		return "", nil, &engine.Error{Code: engine.TypescriptTransformFailed, Message: wrong.Message, Line: wrong.Line, Column: wrong.Column}
	case ctx.Err() != nil:
		return "", nil, &engine.Error{Code: engine.Aborted, Message: "the program was stopped"}
	}
	return "", nil, &engine.Error{Code: engine.InternalError, Message: err.Error()}
}

// tidyPrograms deletes what waited for runs that are over.
func (g *Gateway) tidyPrograms(ctx context.Context) {
	err := g.programs.Sweep(ctx, func(runID string) bool {
		rec, err := g.session.Why("", runID)
		return err == nil && !rec.State.Ended()
	})
	if err != nil {
		g.log.Warn("programs that waited could not be tidied up", "err", err)
	}
}

// warmPrograms loads the engine ahead of the first program.
func (g *Gateway) warmPrograms(ctx context.Context) {
	if err := g.machine.Warm(ctx); err != nil && !errors.Is(err, context.Canceled) {
		g.log.Error("code mode is switched on and cannot be used; answers have no tools until it can", "err", fmt.Errorf("load the engine: %w", err))
	}
}
