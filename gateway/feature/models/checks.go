package models

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/modelcheck"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	pick "github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
)

// checks is what `hearth doctor` says of models and accounts.
func (f feature) checks(ctx context.Context, p protocol.DoctorParams) []protocol.HealthCheck {
	f.Models.Detect(ctx)
	c := &checkup{feature: f}
	c.defaultModel(ctx, p.Live)
	c.fallbacks()
	c.accounts()
	return c.out
}

type checkup struct {
	feature
	out []protocol.HealthCheck
}

func (c *checkup) add(state, what, advice string) {
	c.out = append(c.out, protocol.HealthCheck{Area: "models", State: state, What: what, Advice: advice})
}

// defaultModel: is there one, and does it do what conversations need?
func (c *checkup) defaultModel(ctx context.Context, live bool) {
	ref, _ := c.Models.Default()
	if ref == guide.Ref() {
		if offer := c.Models.Offer(); offer != "" {
			c.add(protocol.CheckWarn, "no model was chosen; the built-in guide answers", strings.ReplaceAll(offer, "**", "")+" `hearth setup` "+
				"shows all that was found")
			return
		}
		c.add(protocol.CheckWarn, "no model is connected; the built-in guide answers", "get one with `hearth models pull qwen3:8b`, log in "+
			"with `hearth models auth login`, or add a key with `hearth models auth add`")
		return
	}
	choice, err := c.Models.Resolve(ctx, ref)
	if err != nil {
		c.add(protocol.CheckFail, fmt.Sprintf("the default model %s cannot be asked: %s", ref, strings.TrimSuffix(c.Turns.Words(err, ref), ".")),
			"choose another with `hearth models set PROVIDER/MODEL`")
		return
	}
	if live {
		if res := c.Trials.Try(ctx, modelcheck.Ask{Ref: ref}); !res.OK {
			c.add(protocol.CheckFail, fmt.Sprintf("the default model %s does not answer", ref), res.Error)
			return
		} else {
			c.add(protocol.CheckOK, fmt.Sprintf("the default model %s: %s", ref, res.Line), "")
		}
		if again, err := c.Models.Resolve(ctx, ref); err == nil {
			choice = again
		}
	} else {
		c.add(protocol.CheckOK, fmt.Sprintf("the default model is %s", ref), "")
	}
	c.abilities(choice)
}

func (c *checkup) abilities(choice provider.Choice) {
	if w := choice.ContextWindow; w > 0 && w < modelcheck.GoodWindow {
		c.add(protocol.CheckWarn, fmt.Sprintf("the default model keeps only %s tokens of a conversation", modelcheck.Thousands(w)),
			"16,000 or more is better: set contextWindow of the model in models.providers, or pick another model; `hearth models test --context` "+
				"tries how much it really keeps")
	}
	if !choice.Tools {
		c.add(protocol.CheckWarn, "the default model cannot call tools: it can talk, but not read files or run commands",
			"pick one that can with `hearth models set`; `hearth models list` shows which")
	}
}

// fallbacks: can each of them be asked?
func (c *checkup) fallbacks() {
	d := pick.Section.Of(c.Settings.Snapshot().Config).Model
	for _, name := range d.Fallbacks {
		ref := c.Models.Named(name)
		for _, e := range c.Models.Catalogue() {
			if e.Ref == ref && !e.Available {
				c.add(protocol.CheckWarn, fmt.Sprintf("the fallback %s cannot be asked: %s", ref, strings.TrimSuffix(e.Reason, ".")),
					"take it out with `hearth models set`, or mend it as said")
			}
		}
	}
}

// accounts: which rest, and which have lost their key?
func (c *checkup) accounts() {
	now, all, resting := c.Clock.Now(), 0, 0
	for _, a := range c.Accounts.Book().Accounts() {
		all++
		if a.Missing {
			c.add(protocol.CheckWarn, fmt.Sprintf("the account %s has no key any more", a.ID),
				fmt.Sprintf("add it again with `hearth models auth add %s`, or remove the account with `hearth models auth logout %s`", a.Provider,
					a.Provider))
			continue
		}
		if until, why := accounts.RestOf(a, now); !until.IsZero() {
			resting++
			c.add(protocol.CheckWarn, fmt.Sprintf("the account %s rests until %s (%s)", a.ID, until.In(c.Clock.Zone()).Format("2 January 15:04"),
				why), "nothing has to be done; `hearth models test` asks it anyway")
		}
	}
	if all > 0 && resting == 0 {
		c.add(protocol.CheckOK, fmt.Sprintf("accounts at model services: %d, none of them rests", all), "")
	}
}
