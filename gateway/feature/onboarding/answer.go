package onboarding

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/setup"
)

// panes are where each step stands in the settings.
func setupPanes() map[setup.Step]string {
	return map[setup.Step]string{setup.Model: "models", setup.Name: "general", setup.Phone: "people", setup.Telegram: "channels",
		setup.Leave: "general"}
}

func (f *feature) get(ctx context.Context, p protocol.SetupGetParams) (protocol.Setup, error) {
	if p.Look {
		f.Models.Detect(ctx)
	}
	return f.state(), ctx.Err()
}

// state is how the first steps stand.
func (f *feature) state() protocol.Setup {
	// Before the record: what ends in between has written there what came of it.
	doing, problem := f.flow.State()
	rec := f.Setup.Get()
	s := protocol.Setup{
		Complete: rec.Complete(), Waiting: f.Setup.Waiting(), Choices: []protocol.SetupChoice{}, Downloads: []protocol.SetupDownload{},
		SignIns: []protocol.SetupSignIn{}, RAM: setup.RAM(), Programs: f.otherAssistants(),
	}
	for _, step := range setup.Steps() {
		s.Steps = append(s.Steps, protocol.SetupStep{ID: string(step), State: string(rec.Of(step)), Pane: setupPanes()[step]})
	}
	for _, c := range f.Choices() {
		s.Choices = append(s.Choices, protocol.SetupChoice{ID: c.ID, Kind: c.Kind, Name: c.Name, Service: c.Service, Model: c.Model,
			Caution: c.Caution})
	}
	for _, d := range setup.Offers(s.RAM) {
		s.Downloads = append(s.Downloads, protocol.SetupDownload{Model: d.Model, Name: d.Name, Bytes: d.Bytes,
			Seconds: int64(d.Estimate().Seconds())})
	}
	for _, o := range oauth.Services() {
		s.SignIns = append(s.SignIns, protocol.SetupSignIn{ID: o.ID, Name: o.Name})
	}
	_, _, s.Ollama = f.Models.Ollama("")
	if s.Problem = problem; problem != "" && rec.Pending != "" {
		s.Retry = setup.KindAccount + ":" + rec.Pending
	}
	if doing != nil {
		s.Doing = &protocol.SetupDoing{What: doing.What, Name: doing.Name, Model: doing.Model, Done: doing.Done, Total: doing.Total,
			Seconds: int64(doing.Left.Seconds())}
	}
	if rec.Model != "" {
		s.Model = &protocol.SetupResult{Model: rec.Model, Line: rec.Line, Notes: append([]string{}, rec.Notes...),
			ChatOnly: strings.HasSuffix(rec.Line, "no tools")}
	}
	if f.AtLogin != nil {
		on := f.AtLogin.On()
		s.AtLogin = &on
	}
	return s
}

func (f *feature) answer(ctx context.Context, p protocol.SetupAnswerParams) (protocol.Setup, error) {
	step := setup.Step(p.Step)
	if !slices.Contains(setup.Steps(), step) {
		return protocol.Setup{}, protocol.InvalidParams(protocol.MethodSetupAnswer, "the steps are model, name, phone, telegram and leave, "+
			"not %q", p.Step)
	}
	err := f.answerStep(ctx, step, p)
	if errors.Is(err, setup.ErrBusy) || errors.Is(err, setup.ErrUnknown) {
		err = protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	return f.state(), err
}

func (f *feature) answerStep(ctx context.Context, step setup.Step, p protocol.SetupAnswerParams) error {
	switch p.Do {
	case "done":
		return f.Setup.Set(ctx, step, setup.Done)
	case "skip":
		if step == setup.Model {
			return f.lookAround(ctx)
		}
		return f.Setup.Set(ctx, step, setup.Skipped)
	case "again":
		f.flow.Clear()
		return f.Setup.Set(ctx, step, setup.Again)
	}
	switch {
	case step == setup.Model:
		return f.answerModel(ctx, p)
	case step == setup.Name && p.Do == "save":
		if err := f.nameAssistant(ctx, p.Name, p.Style); err != nil {
			return err
		}
		return f.Setup.Set(ctx, step, setup.Done)
	case step == setup.Leave && p.Do == "atLogin":
		if f.AtLogin == nil {
			return protocol.Invalid("This Hearth was not started by the icon in the menu bar, so it cannot start it at login. `hearth service " +
				"install` starts the gateway at login instead.")
		}
		if err := f.AtLogin.Set(p.On); err != nil {
			return protocol.Invalid("Starting at login could not be changed: %v.", err)
		}
		return nil
	}
	return protocol.InvalidParams(protocol.MethodSetupAnswer, "%q is nothing to do in the step %s", p.Do, p.Step)
}

func (f *feature) answerModel(ctx context.Context, p protocol.SetupAnswerParams) error {
	switch p.Do {
	case "use":
		return f.flow.Use(p.Choice)
	case "key":
		_, err := f.flow.Key(ctx, p.Service, p.Key)
		return err
	case "download":
		if name := strings.TrimSpace(strings.TrimPrefix(p.Model, "ollama/")); name != "" {
			return f.flow.Pull(ctx, name)
		}
		return protocol.MissingParam(protocol.MethodSetupAnswer, "model")
	case "cancel":
		if !f.flow.Cancel() {
			return protocol.Invalid("Nothing is being tried now.")
		}
		return nil
	}
	return protocol.InvalidParams(protocol.MethodSetupAnswer, "%q is nothing to do in the step model", p.Do)
}
