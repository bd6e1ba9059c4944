package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
	"github.com/hearth-assistant/hearth/gateway/codemode/typescript"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// Settings are the limits of the settings.
func Settings(c Configured) codemode.Settings {
	return codemode.Settings{
		Languages: c.Languages, Timeout: time.Duration(c.TimeoutMs) * time.Millisecond, Memory: int64(c.MemoryLimitBytes),
		Output:   c.MaxOutputBytes,
		Snapshot: c.MaxSnapshotBytes, Pending: c.MaxPendingToolCalls, TTL: time.Duration(c.SnapshotTTLSeconds) * time.Second,
		SearchDefault: c.SearchDefaultLimit, SearchMost: c.MaxSearchLimit,
	}
}

// Origin says where a tool comes from, for the ids of the catalogue.
func Origin(name string) codemode.Origin {
	if rest, ok := strings.CutPrefix(name, mcp.Prefix); ok {
		if server, own, ok := strings.Cut(rest, "__"); ok {
			return codemode.Origin{Source: codemode.SourceMCP, Owner: server, Name: own}
		}
	}
	group := policy.GroupOf(name)
	return codemode.Origin{Source: codemode.SourceHearth, Owner: "core", Name: name, Verbatim: group == "group:fs" ||
		group == "group:runtime" || name == "web_fetch"}
}

// Prepare makes JavaScript of a program, with the way back to the
// places of its text, and refuses one that asks for modules.
func Prepare(ctx context.Context, code, language string) (string, *sourcemap.Map, *engine.Error) {
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
		return "", nil, &engine.Error{Code: engine.ModuleAccessDenied, Message: module.What + " is not available: a program has no modules, " +
			"only the tools of its catalogue", Line: module.Line, Column: module.Column}
	case errors.As(err, &wrong):
		return "", nil, &engine.Error{Code: engine.TypescriptTransformFailed, Message: wrong.Message, Line: wrong.Line, Column: wrong.Column}
	case ctx.Err() != nil:
		return "", nil, &engine.Error{Code: engine.Aborted, Message: "the program was stopped"}
	}
	return "", nil, &engine.Error{Code: engine.InternalError, Message: err.Error()}
}

// Result is what became of a program, as clients read it.
func Result(res codemode.Result, tookMs int64) (protocol.CodeRunResult, error) {
	out := protocol.CodeRunResult{
		Status: res.Status, Value: res.Value, Error: res.Error, Code: string(res.Code), Line: res.Line, Column: res.Column,
		TookMs: cmp.Or(tookMs, 1),
	}
	for _, o := range res.Output {
		out.Output = append(out.Output, protocol.CodeOutput(o))
	}
	var err error
	out.Telemetry, err = json.Marshal(res.Telemetry)
	return out, err
}
