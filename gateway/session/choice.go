package session

import (
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// Override says which model and account answer a session in the place of the
// default, and who decided so.
type Override struct {
	Provider string `json:"providerOverride,omitempty"`
	Model    string `json:"modelOverride,omitempty"`
	Source   string `json:"modelOverrideSource,omitempty"` // auto, user; empty = kept without, as user
	Origin   string `json:"modelOverrideOrigin,omitempty"` // of auto: "provider/model" that was selected
	Reason   string `json:"modelOverrideReason,omitempty"` // of auto: why it was left

	Profile            string `json:"authProfileOverride,omitempty"`
	ProfileSource      string `json:"authProfileOverrideSource,omitempty"` // auto, user
	ProfileCompactions int    `json:"authProfileOverrideCompactionCount,omitempty"`
}

// Sources of an Override.
const (
	byUser = "user"
	byAuto = "auto"
)

// Fallback is the state that was last shown to the person: another model than
// the selected one answers.
type Fallback struct {
	Selected string `json:"selected"`
	Active   string `json:"active"`
	Reason   string `json:"reason"`
}

func (o Override) ref() model.Ref { return model.Ref{Provider: o.Provider, Model: o.Model} }

// clearModel keeps the account.
func (o *Override) clearModel() {
	o.Provider, o.Model, o.Source, o.Origin, o.Reason = "", "", "", "", ""
}

func (o *Override) clearProfile() { o.Profile, o.ProfileSource, o.ProfileCompactions = "", "", 0 }

// Chosen is the model that the person selected for the session, zero when it
// follows the default.
func (r Row) Chosen() model.Ref {
	if r.Override.Source != byAuto && r.Override.Model != "" {
		return r.Override.ref()
	}
	ref, _ := model.ParseRef(r.Model)
	return ref
}

// choose notes what a person selected: "provider/model", with "@profile" when
// it is to be one account; "@profile" alone is the default model with this
// account, which fallbacks may stand in for; "" goes back to the default. It
// makes a running answer switch.
func (r *Row) choose(name string) error {
	o := Override{}
	if id, only := strings.CutPrefix(name, "@"); only {
		if _, _, ok := profile.SplitID(id); !ok {
			return fmt.Errorf("%q is no account; write @service:name, for example \"@openai:work\"", clip(name, 80))
		}
		o.Profile, o.ProfileSource = id, byUser
	} else if name != "" {
		ref, id, ok := profile.ParseRef(name)
		if !ok {
			return fmt.Errorf("%q is no model; write provider/model, for example \"ollama/qwen3:8b\"", clip(name, 80))
		}
		o.Provider, o.Model, o.Source = ref.Provider, ref.Model, byUser
		if id != "" {
			o.Profile, o.ProfileSource = id, byUser
		}
	}
	r.Override, r.Model, r.Fallback = o, "", nil
	r.Choices++
	return nil
}

// selection is what the next run is to be answered with.
func (r Row) selection() failover.Selection {
	o := r.Override
	sel := failover.Selection{Session: r.Key, Source: failover.SourceDefault}
	if o.ProfileSource == byUser || o.Profile != "" && o.ProfileCompactions == r.Compactions {
		sel.Pin = failover.Pinned{ID: o.Profile, User: o.ProfileSource == byUser}
	}
	switch {
	case o.Model != "" && o.Source == byAuto:
		sel.Ref, sel.Source, sel.Reason = o.ref(), failover.SourceAuto, failover.Reason(o.Reason)
		sel.Origin, _ = model.ParseRef(o.Origin)
	case o.Model != "" && o.Source == byUser:
		sel.Ref, sel.Source = o.ref(), failover.SourceUser
	case o.Model != "":
		sel.Ref, sel.Source = o.ref(), failover.SourceLegacy
	case r.Model != "":
		sel.Ref, _ = model.ParseRef(r.Model)
		sel.Source = failover.SourceLegacy
	}
	return sel
}

// renew forgets what a failover decided, and the account, which go with the
// conversation; what the person selected stays.
func (r *Row) renew() {
	if r.Override.Source == byAuto {
		r.Override.clearModel()
	}
	r.Override.clearProfile()
	r.Fallback = nil
}
