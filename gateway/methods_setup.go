package gateway

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/setup"
)

// setupMethods are about the first steps.
func (g *Gateway) setupMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodSetupGet, g.setupGet),
		method.Plain(protocol.MethodSetupAnswer, g.setupAnswer),
	}
}

// panes are where each step stands in the settings.
func setupPanes() map[setup.Step]string {
	return map[setup.Step]string{setup.Model: "models", setup.Name: "general", setup.Phone: "people", setup.Telegram: "channels", setup.Leave: "general"}
}

func (g *Gateway) setupGet(ctx context.Context, p protocol.SetupGetParams) (protocol.Setup, error) {
	if p.Look {
		g.models.Detect(ctx)
	}
	return g.setupState(), ctx.Err()
}

// setupState is how the first steps stand.
func (g *Gateway) setupState() protocol.Setup {
	rec := g.setup.Get()
	s := protocol.Setup{
		Complete: rec.Complete(), Waiting: g.setup.Waiting(), Choices: []protocol.SetupChoice{}, Downloads: []protocol.SetupDownload{},
		SignIns: []protocol.SetupSignIn{}, RAM: setup.RAM(), Programs: g.otherAssistants(),
	}
	for _, step := range setup.Steps() {
		s.Steps = append(s.Steps, protocol.SetupStep{ID: string(step), State: string(rec.Of(step)), Pane: setupPanes()[step]})
	}
	for _, c := range (setupHands{g}).Choices() {
		s.Choices = append(s.Choices, protocol.SetupChoice{ID: c.ID, Kind: c.Kind, Name: c.Name, Service: c.Service, Model: c.Model, Caution: c.Caution})
	}
	for _, d := range setup.Offers(s.RAM) {
		s.Downloads = append(s.Downloads, protocol.SetupDownload{Model: d.Model, Name: d.Name, Bytes: d.Bytes, Seconds: int64(d.Estimate().Seconds())})
	}
	for _, o := range oauth.Services() {
		s.SignIns = append(s.SignIns, protocol.SetupSignIn{ID: o.ID, Name: o.Name})
	}
	_, _, s.Ollama = g.models.Ollama("")
	doing, problem := g.trying.State()
	if s.Problem = problem; problem != "" && rec.Pending != "" {
		s.Retry = setup.KindAccount + ":" + rec.Pending
	}
	if doing != nil {
		s.Doing = &protocol.SetupDoing{What: doing.What, Name: doing.Name, Model: doing.Model, Done: doing.Done, Total: doing.Total, Seconds: int64(doing.Left.Seconds())}
	}
	if rec.Model != "" {
		s.Model = &protocol.SetupResult{Model: rec.Model, Line: rec.Line, Notes: append([]string{}, rec.Notes...), ChatOnly: strings.HasSuffix(rec.Line, "no tools")}
	}
	if g.opts.AtLogin != nil {
		on := g.opts.AtLogin.On()
		s.AtLogin = &on
	}
	return s
}

func (g *Gateway) setupAnswer(ctx context.Context, p protocol.SetupAnswerParams) (protocol.Setup, error) {
	step := setup.Step(p.Step)
	if !slices.Contains(setup.Steps(), step) {
		return protocol.Setup{}, protocol.InvalidParams(protocol.MethodSetupAnswer, "the steps are model, name, phone, telegram and leave, not %q", p.Step)
	}
	err := g.answerStep(ctx, step, p)
	if errors.Is(err, setup.ErrBusy) || errors.Is(err, setup.ErrUnknown) {
		err = protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	return g.setupState(), err
}

func (g *Gateway) answerStep(ctx context.Context, step setup.Step, p protocol.SetupAnswerParams) error {
	switch p.Do {
	case "done":
		return g.setup.Set(ctx, step, setup.Done)
	case "skip":
		if step == setup.Model {
			return g.lookAround(ctx)
		}
		return g.setup.Set(ctx, step, setup.Skipped)
	case "again":
		g.trying.Clear()
		return g.setup.Set(ctx, step, setup.Again)
	}
	switch {
	case step == setup.Model:
		return g.answerModel(ctx, p)
	case step == setup.Name && p.Do == "save":
		if err := g.nameAssistant(ctx, p.Name, p.Style); err != nil {
			return err
		}
		return g.setup.Set(ctx, step, setup.Done)
	case step == setup.Leave && p.Do == "atLogin":
		if g.opts.AtLogin == nil {
			return protocol.Invalid("This Hearth was not started by the icon in the menu bar, so it cannot start it at login. `hearth service install` starts the gateway at login instead.")
		}
		if err := g.opts.AtLogin.Set(p.On); err != nil {
			return protocol.Invalid("Starting at login could not be changed: %v.", err)
		}
		return nil
	}
	return protocol.InvalidParams(protocol.MethodSetupAnswer, "%q is nothing to do in the step %s", p.Do, p.Step)
}

func (g *Gateway) answerModel(ctx context.Context, p protocol.SetupAnswerParams) error {
	switch p.Do {
	case "use":
		return g.trying.Use(p.Choice)
	case "key":
		_, err := g.trying.Key(ctx, p.Service, p.Key)
		return err
	case "download":
		if name := strings.TrimSpace(strings.TrimPrefix(p.Model, "ollama/")); name != "" {
			return g.trying.Pull(ctx, name)
		}
		return protocol.MissingParam(protocol.MethodSetupAnswer, "model")
	case "cancel":
		if !g.trying.Cancel() {
			return protocol.Invalid("Nothing is being tried now.")
		}
		return nil
	}
	return protocol.InvalidParams(protocol.MethodSetupAnswer, "%q is nothing to do in the step model", p.Do)
}
