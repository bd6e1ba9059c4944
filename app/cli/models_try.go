package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newModelsTest(a *app) *cobra.Command {
	var window bool
	c := &cobra.Command{Use: "test [MODEL…]", Short: "Ask a model, and say whether it answers, calls tools and keeps what it is told",
		Long: "Ask the default model, or the ones named: a word, and one call of a tool. The\n" +
			"allowance holds, and what it costs is booked. With --context also how much of a\n" +
			"long text reaches it, for models that cost nothing; that takes up to a minute.",
		RunE: a.run(func(ctx context.Context, args []string) error { return testModels(ctx, a, args, window) })}
	c.Flags().BoolVar(&window, "context", false, "also try how much of a long text reaches it")
	return c
}

func testModels(ctx context.Context, a *app, names []string, window bool) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite}})
	if err != nil {
		return err
	}
	defer c.Close()
	if len(names) == 0 {
		names = []string{""}
	}
	all, failed := []protocol.ModelsTestResult{}, 0
	for _, n := range names {
		res, err := a.testModel(ctx, c, protocol.ModelsTestParams{Model: n, Context: window})
		if err != nil {
			return err
		}
		if !res.OK {
			failed++
		}
		all = append(all, res)
	}
	if a.asJSON {
		if err := a.out().json(all); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &failure{exitAnswer, count(failed, "model") + " did not answer", "what to do stands above"}
	}
	return nil
}

// testModel runs one test and prints how it went.
func (a *app) testModel(ctx context.Context, c *client.Client, p protocol.ModelsTestParams) (res protocol.ModelsTestResult, err error) {
	if a.ErrTerminal && !a.asJSON {
		if err := a.errs().print(dim("asking…"), "\n"); err != nil {
			return res, err
		}
	}
	if err := c.Call(ctx, protocol.MethodModelsTest, p, &res); err != nil || a.asJSON {
		return res, err
	}
	return res, printTest(a.out(), &res)
}

func printTest(out screen, r *protocol.ModelsTestResult) error {
	mark := green("✓")
	if !r.OK {
		mark = red("✗")
	}
	if err := out.print(mark, " ", bold(line(r.Model)), "  ", line(r.Line), "\n"); err != nil {
		return err
	}
	if r.Error != "" {
		if err := out.print("  ", line(r.Error), "\n"); err != nil {
			return err
		}
	}
	for _, n := range r.Notes {
		if err := out.print("  ", yellow("!"), " ", line(n), "\n"); err != nil {
			return err
		}
	}
	return nil
}

func newModelsPull(a *app) *cobra.Command {
	var provider string
	c := &cobra.Command{Use: "pull MODEL", Short: "Download a model onto this computer, with Ollama", Args: cobra.ExactArgs(1),
		Long: "Download a model with Ollama, which has to run. Ctrl-C stops it; what came is\nkept, and the same command goes on from there.",
		RunE: a.run(func(ctx context.Context, args []string) error { return pullModel(ctx, a, args[0], provider) })}
	c.Flags().StringVar(&provider, "provider", "", "which Ollama server, when there are several")
	return c
}

func pullModel(ctx context.Context, a *app, name, provider string) error {
	bar := &pullProgress{model: name, bar: progress{a: a}, last: make(chan struct{})}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}, OnEvent: bar.event})
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.ModelsPullProgress
	err = c.Call(ctx, protocol.MethodModelsPull, protocol.ModelsPullParams{Model: name, Provider: provider}, &res)
	var refused *protocol.Error
	if err == nil || errors.As(err, &refused) && refused.Code == protocol.CodeUnavailable {
		bar.end()
	}
	if ctx.Err() != nil { // the gateway stops with the connection
		return &failure{exitInterrupted, "the download was stopped", fmt.Sprintf("what came is kept; `hearth models pull %s` goes on from there",
			line(name))}
	}
	if err != nil {
		return err
	}
	return a.done(res, fmt.Sprintf("%s is here (%s). Try it with `hearth models test %s`, choose it with `hearth models set %s`.",
		line(res.Model), size(res.Total), line("ollama/"+res.Model), line("ollama/"+res.Model)))
}
