package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type setupOptions struct {
	use, service, download, name, style, answers string
	key, look                                    bool
	done, skip, again                            []string
}

func newSetup(a *app) *cobra.Command {
	var o setupOptions
	c := &cobra.Command{
		Use:   "setup",
		Short: "Take the first steps: what answers, a name, a phone, Telegram",
		Long: `Take the first steps. At a terminal it asks one thing at a time, goes on where it
was left, and every step can be left out.

Without a terminal it says how the steps stand (--json: for programs) and takes
answers as flags, or as a JSON list of {"step", "do", …} with --answers. A key is
read from standard input, since other programs can see arguments.`,
		Example: "  hearth setup\n  hearth setup --json\n  hearth setup --use ollama/qwen3:8b --skip phone\n  hearth setup --key < key.txt",
		Args:    cobra.NoArgs,
		RunE:    a.run(func(ctx context.Context, _ []string) error { return runSetup(ctx, a, o) }),
	}
	f := c.Flags()
	f.StringVar(&o.use, "use", "", "let this `MODEL` answer, or another choice by its id, or the server at this address (http…)")
	f.BoolVar(&o.key, "key", false, "read a key from standard input, try it, and keep it")
	f.StringVar(&o.service, "service", "", "whose key it is, when it does not tell")
	f.StringVar(&o.download, "download", "", "download this `MODEL` with Ollama, then let it answer")
	f.BoolVar(&o.look, "look-around", false, "the built-in guide answers for now")
	f.StringVar(&o.name, "name", "", "what the assistant is called")
	f.StringVar(&o.style, "style", "", "how it sounds")
	f.StringArrayVar(&o.done, "done", nil, "this `STEP` was done otherwise; may be given several times")
	f.StringArrayVar(&o.skip, "skip", nil, "leave this `STEP` out; may be given several times")
	f.StringArrayVar(&o.again, "again", nil, "ask for this `STEP` anew; may be given several times")
	f.StringVar(&o.answers, "answers", "", "read answers as JSON from `FILE`, - is standard input")
	c.MarkFlagsMutuallyExclusive("use", "key", "download", "look-around")
	return c
}

// wizard is one connection, and what it hears of the steps.
type wizard struct {
	a     *app
	c     *client.Client
	news  chan struct{} // something has changed
	shown string        // that was said last of what goes on
}

func runSetup(ctx context.Context, a *app, o setupOptions) error {
	answers, err := o.list(a)
	if err != nil {
		return err
	}
	w := &wizard{a: a, news: make(chan struct{}, 1)}
	w.c, err = a.dial(ctx, client.Options{
		Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin, protocol.ScopePairing}, OnEvent: w.hear,
	})
	if err != nil {
		return err
	}
	defer w.c.Close()
	for _, p := range answers {
		do := w.answer
		if p.Step == "model" && p.Do == "use" && isAddress(p.Choice) {
			do = func(ctx context.Context, p protocol.SetupAnswerParams) error { return w.useServer(ctx, p.Choice) }
		}
		if err := do(ctx, p); err != nil {
			return err
		}
	}
	var s protocol.Setup
	if err := w.c.Call(ctx, protocol.MethodSetupGet, protocol.SetupGetParams{Look: true}, &s); err != nil {
		return err
	}
	switch {
	case a.asJSON:
		return a.out().json(s)
	case a.InTerminal && (len(answers) == 0 && !s.Complete || len(o.again) > 0 && len(o.again) == len(answers)):
		return w.ask(ctx, s)
	}
	return w.print(s)
}

// list is what the flags and the file answer, in the order of the steps.
func (o setupOptions) list(a *app) (out []protocol.SetupAnswerParams, err error) {
	add := func(p protocol.SetupAnswerParams) { out = append(out, p) }
	for _, s := range o.again {
		add(protocol.SetupAnswerParams{Step: s, Do: "again"})
	}
	switch {
	case o.use != "":
		add(protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: o.use})
	case o.download != "":
		add(protocol.SetupAnswerParams{Step: "model", Do: "download", Model: o.download})
	case o.look:
		add(protocol.SetupAnswerParams{Step: "model", Do: "skip"})
	case o.key:
		key, err := a.typed("Key (it is not shown): ")
		if err != nil {
			return nil, fmt.Errorf("read the key: %w", err)
		}
		add(protocol.SetupAnswerParams{Step: "model", Do: "key", Key: strings.TrimSpace(key), Service: o.service})
	}
	if o.name != "" {
		add(protocol.SetupAnswerParams{Step: "name", Do: "save", Name: o.name, Style: o.style})
	}
	for _, s := range o.done {
		add(protocol.SetupAnswerParams{Step: s, Do: "done"})
	}
	for _, s := range o.skip {
		add(protocol.SetupAnswerParams{Step: s, Do: "skip"})
	}
	if o.answers == "" {
		return out, nil
	}
	more, err := readAnswers(a, o.answers)
	return append(out, more...), err
}

// maxAnswers is more than any list of answers has.
const maxAnswers = 1 << 20

func readAnswers(a *app, file string) (out []protocol.SetupAnswerParams, err error) {
	in := a.input()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, usage("the answers cannot be read: %v", err)
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxAnswers))
	if err != nil {
		return nil, fmt.Errorf("read the answers: %w", err)
	}
	if json.Unmarshal(raw, &out) != nil {
		return nil, &failure{exitUsage, "the answers are no JSON list of {\"step\", \"do\", …}", "write for example: " +
			`[{"step": "name", "do": "save", "name": "Ada"}, {"step": "phone", "do": "skip"}]`}
	}
	return out, nil
}

// hear runs on the connection's goroutine.
func (w *wizard) hear(e protocol.Event) {
	if e.Event != protocol.EventSetup {
		return
	}
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// answer answers one step, and waits until what it began has ended.
func (w *wizard) answer(ctx context.Context, p protocol.SetupAnswerParams) error {
	var s protocol.Setup
	if err := w.c.Call(ctx, protocol.MethodSetupAnswer, p, &s); err != nil {
		return err
	}
	if o := stepState(s, "model"); p.Step == "model" && p.Do == "skip" && o == "done" && !w.a.asJSON {
		return w.a.errs().print(w.a.folded("", "A model was chosen before, and it goes on answering. `hearth models set guide/guide` lets the "+
			"built-in guide answer instead."), "\n")
	}
	if p.Step != "model" || !slices.Contains([]string{"use", "key", "download"}, p.Do) {
		return nil
	}
	s, err := w.settled(ctx, s)
	switch {
	case err != nil:
		return err
	case s.Problem != "":
		hint := "`hearth setup` goes on"
		if s.Retry != "" {
			hint = "`hearth setup --use " + line(s.Retry) + "` tries it again"
		}
		return &failure{exitAnswer, line(s.Problem), hint}
	case !w.a.asJSON:
		return w.model(s)
	}
	return nil
}

// lookAgain is how long no news may come before the gateway is asked.
const lookAgain = 2 * time.Second

// settled waits for the end of a test or download.
func (w *wizard) settled(ctx context.Context, s protocol.Setup) (protocol.Setup, error) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for s.Doing != nil && s.Doing.What != "window" {
		if err := w.progress(s.Doing); err != nil {
			return s, err
		}
		select {
		case <-w.news: // it may be older than what the gateway says now
		case <-look.C:
		case <-ctx.Done():
			return s, w.giveUp(ctx)
		}
		s = protocol.Setup{}
		if err := w.c.Call(ctx, protocol.MethodSetupGet, protocol.SetupGetParams{}, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (w *wizard) giveUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortPatience)
	defer cancel()
	err := w.c.Call(ctx, protocol.MethodSetupAnswer, protocol.SetupAnswerParams{Step: "model", Do: "cancel"}, nil)
	return errors.Join(errInterrupted, err)
}

// progress says what goes on, each thing and each tenth of a download once.
func (w *wizard) progress(d *protocol.SetupDoing) error {
	words := "asking " + line(d.Name) + "…"
	if d.What == "download" {
		words = "downloading " + line(d.Name)
		if d.Total > 0 {
			words += fmt.Sprintf(": %d %% of %s", d.Done*10/d.Total*10, size(d.Total))
		}
	}
	if words == w.shown || w.a.asJSON {
		return nil
	}
	w.shown = words
	return w.a.errs().print(dim(words), "\n")
}

// model says what answers now, in a line.
func (w *wizard) model(s protocol.Setup) error {
	if s.Model == nil {
		return nil
	}
	if err := w.a.out().print(green("✓"), " ", bold(line(s.Model.Model)), "  ", line(s.Model.Line), "\n"); err != nil {
		return err
	}
	for _, n := range s.Model.Notes {
		if err := w.a.out().print("  ", yellow("!"), " ", line(n), "\n"); err != nil {
			return err
		}
	}
	return nil
}

// print says how the steps stand, and what could be done.
func (w *wizard) print(s protocol.Setup) error {
	about := map[string]string{"model": "what answers", "name": "what it is called", "phone": "a phone", "telegram": "Telegram",
		"leave": "where it is when nobody looks"}
	var rows [][]string
	for _, st := range s.Steps {
		rows = append(rows, []string{st.ID, st.State, about[st.ID]})
	}
	if err := w.a.out().table([]string{"STEP", "STATE", "ABOUT"}, rows); err != nil || s.Complete {
		return err
	}
	if s.Waiting > 0 {
		if err := w.a.out().print("\n", count(s.Waiting, "message")+" will be answered as soon as a model is ready.\n"); err != nil {
			return err
		}
	}
	if st := stepState(s, "model"); st != "open" && st != "again" {
		return nil
	}
	next := "`hearth setup --download " + s.Downloads[0].Model + "` gets a model (" + size(s.Downloads[0].Bytes) + ") with Ollama, `hearth " +
		"setup --key` takes a key."
	if len(s.Choices) > 0 {
		next = "`hearth setup --use " + line(s.Choices[0].ID) + "` lets " + line(s.Choices[0].Name) + " answer, which is on this computer."
	}
	return w.a.out().print("\n", w.a.folded("", next), "\n")
}

func stepState(s protocol.Setup, id string) string {
	for _, st := range s.Steps {
		if st.ID == id {
			return st.State
		}
	}
	return ""
}
