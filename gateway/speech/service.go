package speech

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/provider/transcription"
	"github.com/hearth-assistant/hearth/gateway/speech/sound"
	"github.com/hearth-assistant/hearth/gateway/spend"
)

// service has a model of a service write it down, and books what that costs.
func (w *Writer) service(ctx context.Context, m Model, s Sound) (string, error) {
	ref := model.Ref{Provider: m.Provider, Model: m.Model}
	account := ""
	c := &transcription.Client{Service: provider.NameOf(m.Provider), Model: m.Model, BaseURL: m.BaseURL, HTTP: w.client}
	if c.BaseURL == "" {
		c.BaseURL = w.o.Models.Address(m.Provider)
	}
	if c.BaseURL == "" {
		return "", fmt.Errorf("nobody knows where %s is: set models.providers.%s.baseUrl, or baseUrl beside it in tools.media.audio.models",
			m.Provider, m.Provider)
	}
	if m.Provider == "ollama" && !strings.HasSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1") {
		c.BaseURL = strings.TrimRight(c.BaseURL, "/") + "/v1"
	}
	if !w.chosen(m.Provider) {
		return "", fmt.Errorf("the key of %s was only found in the environment, and nobody chose to use it: run `hearth models auth add %s`",
			c.Service, m.Provider)
	}
	c.Key = func(ctx context.Context) (string, error) {
		if account = w.o.Accounts.Next(m.Provider, m.Model); account == "" {
			return "", nil // a server of one's own may want none
		}
		return w.o.Accounts.Key(ctx, account, c.BaseURL)
	}
	act := pause.CallService
	if profile.Origin(c.BaseURL) == profile.ThisComputer {
		act = pause.CallModel
	}
	if err := w.o.Guard.Pause.Check(act); err != nil {
		return "", err
	}
	if err := w.afford(ref, c.BaseURL); err != nil {
		return "", err
	}
	got, err := c.Write(ctx, transcription.Sound{Name: "voice" + ending(s), MIME: s.MIME, Data: s.Data,
		Language: m.Language, Prompt: m.Prompt})
	if err != nil {
		return "", err
	}
	w.book(ctx, s, spend.Call{Model: ref, Account: account, Usage: model.Usage{Input: got.Input, Output: got.Output}, Sound: got.Length})
	return got.Text, nil
}

// chosen: its person set the service up, picked one of its models or added an
// account. A key that was only found is nobody's choice.
func (w *Writer) chosen(id string) bool {
	if _, ok := provider.Section.Of(w.o.Settings.Snapshot().Config).Services[id]; ok || w.o.Accounts.Chosen(id) || !w.o.Accounts.Has(id) {
		return true // without any account there is no key that could be used
	}
	return slices.ContainsFunc(w.o.Models.Models(), func(e provider.Entry) bool { return e.Ref.Provider == id && e.Chosen })
}

// errAllowance: what costs is not asked any more.
var errAllowance = errors.New("the allowance is used up; raise it with `hearth usage allow`, or name a program of this computer in " +
	"tools.media.audio.models")

// afford reports whether another call may cost what it does. A service whose price
// nobody knows costs, unless it is on this computer.
func (w *Writer) afford(ref model.Ref, baseURL string) error {
	b := w.o.Guard.Budget
	price, known := b.Price(ref)
	if !b.Allowance().Any() || known && price.Free() || !known && profile.Origin(baseURL) == profile.ThisComputer {
		return nil
	}
	st, err := b.Standing()
	if err != nil {
		return err
	}
	if st.Level == spend.Used {
		return errAllowance
	}
	return nil
}

// book writes down what was used, also when whoever asked has gone meanwhile.
func (w *Writer) book(ctx context.Context, s Sound, call spend.Call) {
	call.At, call.Session, call.Agent = w.o.Now(), s.Session, s.Agent
	if call.Usage == (model.Usage{}) && call.Sound == 0 {
		call.Sound, _ = sound.Length(s.Data)
	}
	if err := w.o.Guard.Budget.Spent(ctx, call); err != nil {
		w.o.Logger.Error("what speech cost could not be booked", "model", call.Model.String(), "err", err)
	}
}
