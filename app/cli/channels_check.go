package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/channel/program/check"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

type channelCheck struct {
	options []string
	wait    time.Duration
	token   bool
}

func newChannelsCheck(a *app) *cobra.Command {
	var o channelCheck
	c := &cobra.Command{
		Use: "check PROGRAM [ARG…]", Short: "Try a program that connects a network, and say what is wrong with it",
		Long: "Try a program of yours that connects a messaging network: whether it speaks the protocol,\n" +
			"and, when it offers a test network, whether it passes what every channel passes. It runs in\n" +
			"the sandbox, as the gateway runs it. docs/channels/write-your-own.md says how to write one.",
		Example: "  hearth channels check ./my-channel\n" +
			"  hearth channels check --option server=localhost:7000 python3 my-channel.py",
		Args: cobra.MinimumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return runChannelsCheck(ctx, a, o, args) }),
	}
	f := c.Flags()
	f.SetInterspersed(false) // what follows the program is its own
	f.StringArrayVar(&o.options, "option", nil, "a `NAME=VALUE` that the program gets as its settings; may be given several times")
	f.BoolVar(&o.token, "token", false, "ask for a secret that the program gets as its token, without showing it")
	f.DurationVar(&o.wait, "wait", 10*time.Second, "how long an answer may take")
	return c
}

// checkJSON is the result for programs.
type checkJSON struct {
	Rows   []check.Result `json:"rows"`
	Failed int            `json:"failed"`
}

func runChannelsCheck(ctx context.Context, a *app, o channelCheck, argv []string) error {
	opt := check.Options{Argv: files(argv), Settings: map[string]string{}, Wait: o.wait, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	for _, pair := range o.options {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return usage("--option %q is no NAME=VALUE", line(pair))
		}
		opt.Settings[name] = value
	}
	if o.token {
		token, err := a.typed("Token (it is not shown): ")
		if err != nil {
			return fmt.Errorf("read the token: %w", err)
		}
		opt.Secrets = map[string]string{"token": strings.TrimSpace(token)}
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	m := check.NewMachine(check.MachineOptions{
		Home: statedir.Home(a.Env), Hide: []string{string(dir), dir.Config(a.Env)}, Guardian: guardian(), Env: a.Env, Now: time.Now,
	})
	opt.Launch = m.Launch
	if !m.Confined {
		words := "there is no sandbox here, so the program runs without one: " + line(m.Summary)
		if err := a.errs().print(yellow("Note: "), words, "\n"); err != nil {
			return err
		}
	}
	all := checkJSON{Rows: []check.Result{}}
	all.Failed, err = check.Run(ctx, opt, func(r check.Result) error {
		all.Rows = append(all.Rows, r)
		if a.asJSON {
			return nil
		}
		return a.sayChecked(r)
	})
	if cerr := m.Close(context.WithoutCancel(ctx)); err == nil {
		err = cerr
	}
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case err != nil:
		return err
	}
	return a.sayCheckedAll(all)
}

// sayChecked is one line for a row, and more for what is wrong.
func (a *app) sayChecked(r check.Result) error {
	s := a.out()
	switch r.State {
	case check.Passed:
		return s.print(green("✓ "), fmt.Sprintf("%-26s", r.Row), line(r.What), "\n")
	case check.Cannot:
		return s.print("– ", fmt.Sprintf("%-26s", r.Row), "cannot: ", line(r.Happened), "\n")
	}
	return s.print(red("✗ "), bold(fmt.Sprintf("%-26s", r.Row)), line(r.What), "\n",
		a.folded("    what happened: ", line(r.Happened)), "\n", a.folded("    what to do:    ", line(r.Do)), "\n")
}

func (a *app) sayCheckedAll(all checkJSON) error {
	cannot := 0
	for _, r := range all.Rows {
		if r.State == check.Cannot {
			cannot++
		}
	}
	if a.asJSON {
		if err := a.out().json(all); err != nil {
			return err
		}
	} else if err := a.out().print(fmt.Sprintf("\n%d passed, %d cannot be tried, %d failed\n", len(all.Rows)-cannot-all.Failed, cannot,
		all.Failed)); err != nil {
		return err
	}
	if all.Failed > 0 {
		return &failure{exitFailure, fmt.Sprintf("%d of the checks failed", all.Failed),
			"docs/channels/write-your-own.md says what each request is for"}
	}
	return nil
}

// files makes whole paths of the words that name files here: the program runs in a
// folder of its own.
func files(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if st, err := os.Stat(w); err != nil || st.IsDir() {
			continue
		}
		if path, err := filepath.Abs(w); err == nil {
			out[i] = path
		}
	}
	return out
}
