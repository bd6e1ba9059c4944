package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// maxProgram is more than any program may have.
const maxProgram = 9 << 20

func newCode(a *app) *cobra.Command {
	var o codeRun
	run := &cobra.Command{Use: "run FILE…", Short: "Run programs as the assistant does in code mode, with its tools inside",
		Args: cobra.MinimumNArgs(1),
		Long: "Run JavaScript or TypeScript programs in the engine of code mode: no files, no\n" +
			"network and no modules, only the assistant's tools (tools.search, tools.describe,\n" +
			"tools.call), by the same rules and with the same approvals. A program is the body\n" +
			"of an async function: what it returns is printed as JSON, after what it says with\ntext() and json().\n\n" +
			"Files that end in .ts are TypeScript; - reads a program from standard input.\nSeveral files run one after the other, each for itself.",
		RunE: a.run(func(ctx context.Context, files []string) error { return runCode(ctx, a, o, files) })}
	run.Flags().BoolVar(&o.noTools, "no-tools", false, "without tools and without a gateway")
	run.Flags().StringVar(&o.language, "language", "", "javascript or typescript, whatever the name ends in")
	run.Flags().StringVar(&o.session, "session", "", "with the tools of this session (default: the main one)")
	return group("code", "Run programs by hand that use the assistant's tools", run)
}

// codeRun is what the command line says.
type codeRun struct {
	noTools           bool
	language, session string
}

// runner runs one program; heard gets what it says on the way.
type runner func(ctx context.Context, p protocol.CodeRunParams, heard func(seq int, o protocol.CodeOutput)) (protocol.CodeRunResult, error)

// runCode runs every file, and fails as the first one did that failed.
func runCode(ctx context.Context, a *app, o codeRun, files []string) error {
	run, end, err := a.codeRunner(ctx, o)
	if err != nil {
		return err
	}
	defer end()
	var first error
	for _, file := range files {
		p, err := a.readProgram(file, o)
		if err == nil {
			err = a.runProgram(ctx, run, file, len(files) > 1, p)
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
		if len(files) == 1 {
			return err
		}
		if !a.asJSON {
			a.complain(explain(err))
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return &failure{explain(first).code, "not every program came to its end", ""}
	}
	return nil
}

// readProgram reads a file, or standard input.
func (a *app) readProgram(file string, o codeRun) (protocol.CodeRunParams, error) {
	p := protocol.CodeRunParams{Language: o.language, SessionKey: o.session}
	from := a.input()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return p, &failure{exitUsage, "the program " + line(file) + " cannot be read: " + cause(err).Error(),
				"`hearth code run FILE`; - reads from standard input"}
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, maxProgram))
	if errors.Is(err, errInterrupted) {
		return p, err
	}
	if err != nil {
		return p, &failure{exitUsage, "the program cannot be read: " + err.Error(), ""}
	}
	if p.Language == "" {
		switch strings.ToLower(filepath.Ext(file)) {
		case ".ts", ".mts", ".cts":
			p.Language = "typescript"
		}
	}
	p.Code = string(data)
	if strings.HasPrefix(p.Code, "#!") { // the line stays, or all others had another number
		p.Code = "//" + p.Code[2:]
	}
	return p, nil
}

// codeRunner is the gateway, or an engine of our own.
func (a *app) codeRunner(ctx context.Context, o codeRun) (runner, func(), error) {
	if o.noTools {
		return a.ownEngine(ctx)
	}
	var mu sync.Mutex
	hear := map[string]func(int, protocol.CodeOutput){}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}, OnEvent: func(e protocol.Event) {
		var said protocol.CodeOutputEvent
		if e.Event != protocol.EventCodeOutput || json.Unmarshal(e.Payload, &said) != nil {
			return
		}
		mu.Lock()
		heard := hear[said.RunID]
		mu.Unlock()
		if heard != nil {
			heard(said.Seq, said.Output)
		}
	}})
	if err != nil {
		if f := explain(err); f.code == exitNotRunning {
			return nil, nil, &failure{f.code, f.message, "start it with `hearth gateway`, or run the program without tools: `hearth code run " +
				"--no-tools FILE`"}
		}
		return nil, nil, err
	}
	run := func(ctx context.Context, p protocol.CodeRunParams, heard func(int, protocol.CodeOutput)) (res protocol.CodeRunResult, err error) {
		p.RunID = rand.Text()
		mu.Lock()
		hear[p.RunID] = heard
		mu.Unlock()
		defer func() {
			mu.Lock()
			delete(hear, p.RunID)
			mu.Unlock()
		}()
		if p.SessionKey == "" {
			p.SessionKey = mainSession(c.Hello())
		}
		err = c.Call(ctx, protocol.MethodCodeRun, p, &res)
		return res, err
	}
	return run, func() { c.Close() }, nil
}

// ownEngine runs programs in this process, by the limits of the settings.
func (a *app) ownEngine(ctx context.Context) (runner, func(), error) {
	dir, err := a.dir()
	if err != nil {
		return nil, nil, err
	}
	s, err := config.Inspect(dir.Config(a.Env), a.settingsOptions())
	if err != nil {
		return nil, nil, err
	}
	bench := workbench.New(dir, workbench.Section.Of(s.Config), slog.New(slog.DiscardHandler))
	run := func(ctx context.Context, p protocol.CodeRunParams, heard func(int, protocol.CodeOutput)) (protocol.CodeRunResult, error) {
		seq := 0
		return bench.Run(ctx, p, func(o protocol.CodeOutput) {
			heard(seq, o)
			seq++
		})
	}
	return run, func() { _ = bench.Close(context.WithoutCancel(ctx)) }, nil
}

// runProgram runs one program and prints what it says when it says it, then
// what it returns.
func (a *app) runProgram(ctx context.Context, run runner, file string, many bool, p protocol.CodeRunParams) error {
	var mu sync.Mutex
	printed := 0
	var broken error
	show := func(seq int, o protocol.CodeOutput) {
		mu.Lock()
		defer mu.Unlock()
		if seq != printed || a.asJSON { // one was lost: the rest comes with the result
			return
		}
		printed++
		broken = errors.Join(broken, a.printOutput(o))
	}
	res, err := run(ctx, p, show)
	if err != nil {
		return err
	}
	if a.asJSON {
		if err := a.printResult(file, many, res); err != nil {
			return err
		}
		return programFailure(file, res)
	}
	for seq, o := range res.Output {
		show(seq, o)
	}
	if broken != nil {
		return broken
	}
	if err := programFailure(file, res); err != nil {
		return err
	}
	if v := string(res.Value); v == "" || v == "null" {
		return nil
	}
	return a.out().json(res.Value)
}

func (a *app) printOutput(o protocol.CodeOutput) error {
	if o.Type == "text" {
		return a.out().print(o.Text, "\n")
	}
	return a.out().jsonLine(o.Value)
}

// printResult writes the whole result; of several, one on a line with its file.
func (a *app) printResult(file string, many bool, res protocol.CodeRunResult) error {
	if !many {
		return a.out().json(res)
	}
	return a.out().jsonLine(struct {
		File string `json:"file"`
		protocol.CodeRunResult
	}{file, res})
}

// programFailure is the failure that a result tells of, nil for none.
func programFailure(file string, res protocol.CodeRunResult) error {
	if res.Status == "completed" {
		return nil
	}
	code, hint := exitFailure, ""
	switch res.Code {
	case "invalid_input", "unsupported_language", "invalid_config":
		code = exitUsage
	case "timeout", "aborted":
		code = exitAnswer
	case "module_access_denied":
		hint = "a program has tools and no modules: tools.search(\"…\") finds them"
	}
	if res.Code == "timeout" {
		hint = "tools.codeMode.timeoutMs says how long a program may run"
	}
	if file == "-" {
		file = "standard input"
	}
	where := line(file)
	if res.Line > 0 {
		where += fmt.Sprintf(":%d:%d", res.Line, res.Column)
	}
	message := where + ": " + res.Error
	if res.Code != "" {
		message += " (" + res.Code + ")"
	}
	return &failure{code, message, hint}
}
