// Package onboarding is the feature that takes a person through the first steps:
// the methods hearth.setup.*, and doing what the steps need. Which steps there
// are, and what is tried when, is package setup's.
package onboarding

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/download"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/provider/turn"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/gateway/workspace"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Options are the parts that the feature needs; all but AtLogin.
type Options struct {
	Setup *setup.Book
	Engine
	Assistant
	Sessions *session.Manager
	Settings *config.File
	Clients  *server.Server
	Work     *background.Group
	AtLogin  AtLogin // nil: not known here
	Env      func(string) string
	Now      func() time.Time
	Logger   *slog.Logger
}

// Engine is what a person chooses a model with.
type Engine struct {
	Adding    *accounts.Adding
	Models    *provider.Registry
	Detector  *provider.Detector
	Trials    *turn.Trials
	Downloads *download.Downloads
	Budget    *budget.Budget
}

// Assistant is what the first steps write of the assistant: its name, and whom it
// helps.
type Assistant struct {
	Agents *agents.Directory
	Files  *workspace.Keeper
	Undo   *undo.Log
}

// AtLogin has Hearth start when its person logs in.
type AtLogin interface {
	On() bool
	Set(on bool) error
}

// feature is the setup.Backend of its flow.
type feature struct {
	Options
	flow *setup.Flow
}

// New makes the feature.
func New(ctx context.Context, o Options) (host.Feature, error) {
	f := &feature{Options: o}
	f.flow = setup.NewFlow(setup.Options{Book: o.Setup, Backend: f, Changed: f.tell, Now: o.Now, Go: o.Work.Go})
	o.Setup.Subscribe(f.tell)
	first := sync.OnceFunc(f.resume)
	o.Detector.After(func(ctx context.Context) {
		f.looked(ctx)
		first()
	})
	return host.Feature{Methods: []method.Method{
		method.Plain(protocol.MethodSetupGet, f.get),
		method.Plain(protocol.MethodSetupAnswer, f.answer),
	}}, f.settle(ctx)
}

// settle settles the first step for people who have chosen a model in
// another way: in the settings, or by adding an account.
func (f *feature) settle(ctx context.Context) error {
	_, source := f.Models.Default()
	chosen := f.Setup.Held() && f.chosen() || f.Setup.Around() && source == provider.SourceConfigured
	if !chosen {
		return nil
	}
	return f.Setup.Set(ctx, setup.Model, setup.Done)
}

// tell tells clients how the first steps stand.
func (f *feature) tell() {
	f.Clients.Broadcast(server.Broadcast{Event: protocol.EventSetup, Payload: f.state()})
}

// looked tells what is there now.
func (f *feature) looked(ctx context.Context) {
	if err := f.settle(ctx); err != nil {
		f.Logger.Warn("the first step could not be kept", "err", err)
	}
	f.tell()
}

// resume goes on with a download that a restart cut off.
func (f *feature) resume() {
	if err := f.flow.Resume(); err != nil {
		f.Logger.Warn("the download of a model does not go on", "err", err)
	}
}

func (f *feature) chosen() bool {
	ref, source := f.Models.Default()
	if source == provider.SourceConfigured {
		return f.named() || f.Setup.Waiting() == 0
	}
	doing, _ := f.flow.State()
	pending := f.Setup.Get().Pending
	return doing == nil && slices.ContainsFunc(f.Adding.Accounts.Book().Accounts(), func(a profile.Account) bool {
		return a.Provider == ref.Provider && a.Source == profile.SourceStored && a.ID != pending
	})
}

// named reports whether the settings say which model answers. A server that was just
// added to them does not: its first model is not what the person chose of its list,
// and what waits is answered by the one that they did, once it was tried.
func (f *feature) named() bool {
	return choice.Section.Of(f.Settings.Snapshot().Config).Model.Primary != ""
}

// otherAssistants are programs like this one that are set up on this computer.
// Their files are not read.
func (f *feature) otherAssistants() []protocol.SetupProgram {
	home := statedir.Home(f.Env)
	out := []protocol.SetupProgram{}
	for _, p := range []protocol.SetupProgram{
		{Name: "OpenClaw", Path: ".openclaw/openclaw.json"}, {Name: "picoclaw", Path: ".picoclaw/config.json"},
		{Name: "zeroclaw", Path: ".zeroclaw/config.toml"},
	} {
		p.Path = filepath.Join(home, filepath.FromSlash(p.Path))
		if info, err := os.Stat(p.Path); err == nil && info.Mode().IsRegular() {
			out = append(out, p)
		}
	}
	return out
}

// lookAround lets the guide answer. Where a model was chosen already that one goes
// on, and nothing is left to choose.
func (f *feature) lookAround(ctx context.Context) error {
	if st := f.Setup.Get().Of(setup.Model); st == setup.Again || f.chosen() {
		return f.Setup.Set(ctx, setup.Model, setup.Done)
	}
	return f.Setup.Set(ctx, setup.Model, setup.Skipped)
}

// nameAssistant tells the assistant who it is, in the file that it reads.
func (f *feature) nameAssistant(ctx context.Context, name, style string) error {
	name, style = text.Line(name), text.Line(style)
	if name == "" || len(name) > 60 || len(style) > 300 {
		return protocol.Invalid("A name has 1 to 60 letters, a manner at most 300. Shorten it and save again.")
	}
	words := fmt.Sprintf("# Identity\n\n- Name: %s\n- Emoji: %s\n- Manner: %s\n", name, agents.DefaultEmoji, style)
	turn := undo.Turn{RunID: uuid.New(), Tool: protocol.MethodAgentsFilesSet}
	if _, err := f.Files.Set(ctx, f.Undo, turn, f.Agents.Book().Default().Workspace, workspace.Identity, words, ""); err != nil {
		return protocol.Invalid("%v", err)
	}
	return f.showName(ctx, name)
}

// showName has every page and program show the name too.
func (f *feature) showName(ctx context.Context, name string) error {
	list, id := agents.Section.Of(f.Settings.Snapshot().Config).List, f.Agents.Book().Default().ID
	at := slices.IndexFunc(list, func(a agents.Entry) bool { return a.ID == id })
	path, value := fmt.Sprintf("agents.list[%d].identity.name", at), any(name)
	if at < 0 {
		path = fmt.Sprintf("agents.list[%d]", len(list))
		value = agents.Entry{ID: id, Default: len(list) == 0, Identity: agents.Identity{Name: name}}
	}
	raw, err := json.Marshal(value)
	if err == nil {
		_, err = f.Settings.SetPath(ctx, path, string(raw))
	}
	return err
}
