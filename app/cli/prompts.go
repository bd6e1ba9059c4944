package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newPrompts(a *app) *cobra.Command {
	var o chatOptions
	var show bool
	list := func(ctx context.Context, _ []string) error { return listPrompts(ctx, a) }
	use := &cobra.Command{
		Use: "use NAME [FIELD=VALUE…]", Short: "Fill a prompt in and say it, as `hearth chat` would", Args: cobra.MinimumNArgs(1),
		Long: "Fills a prompt in and says it, as `hearth chat` would. At a terminal, fields that are not\n" +
			"given are asked for.",
		Example: "  hearth prompts use trip city=Bern month=May\n  hearth prompts use trip city=Bern month=May --print",
		RunE:    a.run(func(ctx context.Context, args []string) error { return usePrompt(ctx, a, o, show, args) }),
	}
	o.flags(use.Flags())
	use.Flags().BoolVarP(&show, "print", "p", false, "print what would be said, and say nothing")
	c := group("prompts", "Prompts that you keep, with fields: see them, and use them",
		&cobra.Command{Use: "list", Short: "List the prompts", Args: cobra.NoArgs, RunE: a.run(list)},
		&cobra.Command{Use: "show NAME", Short: "Show the text of a prompt, and what it asks for", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return showPrompt(ctx, a, args[0]) })},
		use)
	c.Long = "Prompts that you keep, to be used again. They stand in the settings (hearth.prompts) and on the\n" +
		"page under Chat & messages; words in double braces, {{city}}, are fields."
	c.RunE = a.run(list)
	return c
}

func (a *app) prompts(ctx context.Context) (l protocol.PromptsList, err error) {
	return l, a.call(ctx, protocol.ScopeRead, protocol.MethodPromptsList, nil, &l)
}

func listPrompts(ctx context.Context, a *app) error {
	l, err := a.prompts(ctx)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(l)
	}
	if len(l.Prompts) == 0 {
		return a.out().print("No prompts are kept. The page keeps some under Settings, Chat & messages; or ",
			"`hearth config set hearth.prompts.NAME.text \"…\"`.\n")
	}
	var rows [][]string
	for _, p := range l.Prompts {
		about := p.About
		if about == "" {
			about = p.Text
		}
		rows = append(rows, []string{line(p.Name), line(strings.Join(p.Fields, ", ")), text.Ellipsis(line(about), 80)})
	}
	return a.out().table([]string{"PROMPT", "ASKS FOR", "WHAT IT IS FOR"}, rows)
}

// prompt finds one by its name, which may have the slash that the page shows.
func (a *app) prompt(ctx context.Context, name string) (protocol.PromptTemplate, error) {
	l, err := a.prompts(ctx)
	if err != nil {
		return protocol.PromptTemplate{}, err
	}
	name = strings.TrimPrefix(name, "/")
	i := slices.IndexFunc(l.Prompts, func(p protocol.PromptTemplate) bool { return p.Name == name })
	if i < 0 {
		return protocol.PromptTemplate{}, &failure{exitFailure, "there is no prompt " + line(name), "`hearth prompts` lists them"}
	}
	return l.Prompts[i], nil
}

func showPrompt(ctx context.Context, a *app, name string) error {
	p, err := a.prompt(ctx, name)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(p)
	}
	if p.About != "" {
		if err := a.out().print(bold(line(p.About)), "\n\n"); err != nil {
			return err
		}
	}
	if err := a.out().print(clean(p.Text), "\n"); err != nil || len(p.Fields) == 0 {
		return err
	}
	return a.errs().print(dim("It asks for: "+line(strings.Join(p.Fields, ", "))), "\n")
}

func usePrompt(ctx context.Context, a *app, o chatOptions, show bool, args []string) error {
	if err := o.ready(false); err != nil {
		return err
	}
	p, err := a.prompt(ctx, args[0])
	if err != nil {
		return err
	}
	values, err := fieldValues(p, args[1:])
	if err != nil {
		return err
	}
	if err := a.askFields(ctx, p, values); err != nil {
		return err
	}
	said, err := messageText(p.Fill(values))
	if err != nil {
		return err
	}
	if show {
		if a.asJSON {
			return a.out().json(map[string]string{"name": p.Name, "text": said})
		}
		return a.out().print(clean(said), "\n")
	}
	ch := newConversation(a, o)
	defer ch.close()
	return ch.ask(ctx, said)
}

// fieldValues reads FIELD=VALUE. The name of a field may have any sign in it, so it is
// looked for among those that there are.
func fieldValues(p protocol.PromptTemplate, pairs []string) (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range pairs {
		found := ""
		for _, f := range p.Fields {
			if strings.HasPrefix(pair, f+"=") && len(f) > len(found) {
				found = f
			}
		}
		_, twice := values[found]
		switch {
		case found == "" && len(p.Fields) == 0:
			return nil, usage("the prompt %s asks for nothing, and there is %q", p.Name, line(pair))
		case found == "":
			return nil, usage("%q is none of FIELD=VALUE; the prompt %s asks for: %s", line(pair), p.Name, line(strings.Join(p.Fields, ", ")))
		case twice:
			return nil, usage("%s is there twice", line(found))
		}
		values[found] = pair[len(found)+1:]
	}
	return values, nil
}

// askFields asks for the fields that have no value yet.
func (a *app) askFields(ctx context.Context, p protocol.PromptTemplate, values map[string]string) error {
	missing := slices.DeleteFunc(slices.Clone(p.Fields), func(f string) bool { _, ok := values[f]; return ok })
	if len(missing) == 0 {
		return nil
	}
	needed := func() error {
		return &failure{exitUsage, "the prompt " + p.Name + " asks for " + line(strings.Join(missing, ", ")),
			"write " + line(missing[0]) + "=\"…\" behind its name"}
	}
	if !a.InTerminal {
		return needed()
	}
	type answer struct {
		words string
		err   error
	}
	in, answers := bufio.NewReader(a.In), make(chan answer)
	for len(missing) > 0 {
		if err := a.errs().print(line(missing[0]), ": "); err != nil {
			return err
		}
		go func() { // not waited for when the person goes: a read from a terminal cannot be stopped
			s, err := in.ReadString('\n')
			select {
			case answers <- answer{strings.TrimSpace(s), err}:
			case <-ctx.Done():
			}
		}()
		select {
		case <-ctx.Done():
			return errInterrupted
		case got := <-answers:
			if got.err != nil && !errors.Is(got.err, io.EOF) {
				return fmt.Errorf("read %s: %w", missing[0], got.err)
			}
			if got.words != "" {
				values[missing[0]], missing = got.words, missing[1:]
			} else if got.err != nil {
				return errors.Join(a.errs().print("\n"), needed())
			}
		}
	}
	return nil
}
