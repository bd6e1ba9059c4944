// Package workbench is what running programs of code mode needs beside the
// engine, with a gateway and without one: limits of the settings, the way from a
// program's text to JavaScript, where tools come from, and the result on the
// wire. A Workbench runs programs without a gateway.
package workbench

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Workbench runs programs without a gateway: the same engine and limits, and a
// catalogue with nothing in it.
type Workbench struct {
	machine  *engine.Engine
	programs *codemode.Runs
	set      codemode.Settings
}

// New makes a workbench. It loads nothing before the first program.
func New(dir statedir.Dir, c Configured, log *slog.Logger) *Workbench {
	w := &Workbench{
		machine: engine.New(engine.Options{CacheDir: dir.CodeCache(), Log: log}),
		set:     Settings(c),
	}
	w.programs = codemode.New(codemode.Options{Engine: w.machine, Now: time.Now, NewID: uuid.New, Log: log, Prepare: Prepare})
	return w
}

// Run runs one program to its end; heard gets what it says.
func (w *Workbench) Run(ctx context.Context, p protocol.CodeRunParams, heard func(protocol.CodeOutput)) (protocol.CodeRunResult, error) {
	none, err := tool.NewSet()
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	began := time.Now()
	res, err := w.programs.RunToEnd(ctx, w.set, tool.Scope{RunID: uuid.New()}, none, Origin,
		codemode.Input{Code: p.Code, Language: p.Language}, nil,
		func(o codemode.Output) { heard(protocol.CodeOutput(o)) })
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	return Result(res, time.Since(began).Milliseconds())
}

// Close gives everything back.
func (w *Workbench) Close(ctx context.Context) error {
	w.programs.Close()
	return w.machine.Close(ctx)
}
