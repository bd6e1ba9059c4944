package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/trial"
)

// checkup gathers what the rooms say of themselves.
type checkup struct {
	g   *Gateway
	out protocol.Doctor
}

// examine looks at everything that only a running gateway knows; what lies in
// files is looked at by the command line.
func (g *Gateway) examine(ctx context.Context, p protocol.DoctorParams) protocol.Doctor {
	c := &checkup{g: g, out: protocol.Doctor{OK: true, Checks: []protocol.HealthCheck{}}}
	g.models.Detect(ctx)
	c.defaultModel(ctx, p.Live)
	c.fallbacks()
	c.accounts()
	c.problems()
	c.failures()
	c.people()
	c.commands()
	for _, x := range g.features.Checks(ctx, p) {
		c.add(x.Area, x.State, x.What, x.Advice)
	}
	return c.out
}

func (c *checkup) add(area, state, what, advice string) {
	c.out.Checks = append(c.out.Checks, protocol.HealthCheck{Area: area, State: state, What: what, Advice: advice})
	c.out.OK = c.out.OK && state != protocol.CheckFail
}

// defaultModel: is there one, and does it do what conversations need?
func (c *checkup) defaultModel(ctx context.Context, live bool) {
	g := c.g
	ref, _ := g.models.Default()
	if ref == guide.Ref() {
		if offer := g.models.Offer(); offer != "" {
			c.add("models", protocol.CheckWarn, "no model was chosen; the built-in guide answers", strings.ReplaceAll(offer, "**", "")+" `hearth setup` shows all that was found")
			return
		}
		c.add("models", protocol.CheckWarn, "no model is connected; the built-in guide answers", "get one with `hearth models pull qwen3:8b`, log in with `hearth models auth login`, or add a key with `hearth models auth add`")
		return
	}
	choice, err := g.models.Resolve(ctx, ref)
	if err != nil {
		c.add("models", protocol.CheckFail, fmt.Sprintf("the default model %s cannot be asked: %s", ref, strings.TrimSuffix(g.wordsOf(err, ref), ".")), "choose another with `hearth models set PROVIDER/MODEL`")
		return
	}
	if live {
		if res := g.testModel(ctx, protocol.ModelsTestParams{Model: ref.String()}); !res.OK {
			c.add("models", protocol.CheckFail, fmt.Sprintf("the default model %s does not answer", ref), res.Error)
			return
		} else {
			c.add("models", protocol.CheckOK, fmt.Sprintf("the default model %s: %s", ref, res.Line), "")
		}
		if again, err := g.models.Resolve(ctx, ref); err == nil {
			choice = again
		}
	} else {
		c.add("models", protocol.CheckOK, fmt.Sprintf("the default model is %s", ref), "")
	}
	c.abilities(choice)
}

func (c *checkup) abilities(choice provider.Choice) {
	if w := choice.ContextWindow; w > 0 && w < trial.GoodWindow {
		c.add("models", protocol.CheckWarn, fmt.Sprintf("the default model keeps only %s tokens of a conversation", trial.Thousands(w)),
			"16,000 or more is better: set contextWindow of the model in models.providers, or pick another model; `hearth models test --context` tries how much it really keeps")
	}
	if !choice.Tools {
		c.add("models", protocol.CheckWarn, "the default model cannot call tools: it can talk, but not read files or run commands", "pick one that can with `hearth models set`; `hearth models list` shows which")
	}
}

// fallbacks: can each of them be asked?
func (c *checkup) fallbacks() {
	d := c.g.config.Snapshot().Config.Agents.Defaults.Model
	for _, name := range d.Fallbacks {
		ref := c.g.models.Named(name)
		for _, e := range c.g.models.Catalogue() {
			if e.Ref == ref && !e.Available {
				c.add("models", protocol.CheckWarn, fmt.Sprintf("the fallback %s cannot be asked: %s", ref, strings.TrimSuffix(e.Reason, ".")), "take it out with `hearth models set`, or mend it as said")
			}
		}
	}
}

// accounts: which rest, and which have lost their key?
func (c *checkup) accounts() {
	now, all, resting := c.g.opts.Now(), 0, 0
	for _, a := range c.g.book.Accounts() {
		all++
		if a.Missing {
			c.add("models", protocol.CheckWarn, fmt.Sprintf("the account %s has no key any more", a.ID), fmt.Sprintf("add it again with `hearth models auth add %s`, or remove the account with `hearth models auth logout %s`", a.Provider, a.Provider))
			continue
		}
		if until, why := restOf(a, now); !until.IsZero() {
			resting++
			c.add("models", protocol.CheckWarn, fmt.Sprintf("the account %s rests until %s (%s)", a.ID, until.In(c.g.clock.Zone()).Format("2 January 15:04"), why), "nothing has to be done; `hearth models test` asks it anyway")
		}
	}
	if all > 0 && resting == 0 {
		c.add("models", protocol.CheckOK, fmt.Sprintf("accounts at model services: %d, none of them rests", all), "")
	}
}

// problems are what status tells as well; settings and secrets are looked at by
// the command line.
func (c *checkup) problems() {
	list := slices.Concat(c.g.hardness, c.g.channels.Problems())
	stored := c.g.storeProblems()
	list, c.out.OK = append(list, stored...), c.out.OK && len(stored) == 0
	for _, p := range list {
		what, advice, _ := strings.Cut(strings.TrimSuffix(p.Message, "."), ". ")
		c.add("gateway", protocol.CheckWarn, what, advice)
	}
}

// commands: are they confined?
func (c *checkup) commands() {
	r := sandbox.Probe()
	if r.Confined {
		by := r.Backend
		if r.ABI > 0 {
			by = fmt.Sprintf("Landlock ABI %d", r.ABI)
		}
		c.add("sandbox", protocol.CheckOK, "commands are confined by "+by, "")
		return
	}
	c.add("sandbox", protocol.CheckWarn, "commands are not confined: "+strings.TrimSuffix(strings.Join(r.Words, " "), "."), "each command is asked about; a newer Linux kernel with Landlock, or macOS, confines them")
}
