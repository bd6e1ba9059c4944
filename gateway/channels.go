package gateway

import (
	"cmp"
	"crypto/rand"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
	"github.com/hearth-assistant/hearth/internal/random"
)

// Networks is the one list of messaging networks.
func Networks() channel.Kinds {
	return channel.Kinds{
		telegram.Kind(),
	}
}

// openChannels makes what holds the accounts on messaging networks.
func (g *Gateway) openChannels() {
	g.channels = hub.New(hub.Options{Kinds: Networks(), Settings: g.config, Secrets: g.secrets, Now: g.opts.Now, Logger: g.log})
	g.live = &live{g: g, ctx: g.work.Context(), runs: map[string]*liveRun{}}
}

// openDelivery wires what goes out to networks and what comes in from them.
func (g *Gateway) openDelivery() {
	g.deliverer = outbound.NewDeliverer(g.store, outbound.DelivererOptions{
		Channels: g.channels.Find, Limits: g.channels.Limits, Now: g.opts.Now, Rand: random.Float, Logger: g.log,
	})
	g.contacts = contact.New(g.store, g.opts.Now, rand.Reader)
	g.arrivals.g = g
	g.gate = inbound.New(inbound.Options{
		DB: g.store, Contacts: g.contacts, Sessions: inbox{g},
		Settings:  func() inbound.Settings { return g.inboundSettings(g.config.Snapshot().Config) },
		Policy:    g.channels.Policy,
		IsCommand: func(text string) bool { return g.dispatch.IsCommand(text) }, Tell: g.tellStranger, OnDecision: g.noteDecision, Broken: g.messageBroke, Logger: g.log, Now: g.opts.Now, Local: g.opts.Now().Location(), NewID: newUUID,
	})
}

// streaming is what is seen of an answer while it is made.
type streaming struct {
	mode                    stream.Mode
	hideTools, hideCommands bool
	blocks                  bool
	block                   stream.BlockOptions
	steps                   chunk.Options // of previews in steps
}

func (g *Gateway) streaming(id, account, agent string) streaming {
	cfg := g.config.Snapshot().Config
	d, a := cfg.Agents.Defaults, g.channels.Account(id, account)
	kind, _ := g.channels.Kinds.Get(id)
	pace := paceOf(cfg, agent)
	lines := a.Streaming.Preview
	if a.Streaming.Mode == string(stream.Progress) {
		lines = a.Streaming.Progress
	}
	s := streaming{
		mode: stream.Mode(a.Streaming.Mode), hideTools: !lines.ToolProgress, hideCommands: lines.CommandText == "status",
		steps: draftChunk(a.DraftChunk), blocks: stream.On(d.BlockStreamingDefault == "on", nil, a.BlockStreaming, !kind.Blocks),
	}
	s.block = stream.BlockOptions{
		Chunk: chunkOptions(d.BlockStreamingChunk),
		Limit: a.TextChunkLimit, Break: stream.BreakAt(d.BlockStreamingBreak), Coalesce: coalesce(d.BlockStreamingCoalesce, a.BlockStreamingCoalesce),
		Delay: stream.HumanDelay{
			Mode: stream.DelayMode(pace.Mode), Min: time.Duration(pace.MinMs) * time.Millisecond, Max: time.Duration(pace.MaxMs) * time.Millisecond,
		},
	}
	return s
}

// paceOf is the pause of an agent between the blocks of its answers.
func paceOf(c config.Config, agent string) config.HumanDelay {
	for _, own := range c.Agents.List {
		if own.ID == agent && own.HumanDelay != nil {
			return *own.HumanDelay
		}
	}
	return c.Agents.Defaults.HumanDelay
}

// draftChunk are the steps of a preview, smaller than blocks.
func draftChunk(b config.BlockChunk) chunk.Options {
	o := chunkOptions(b)
	o.Max = cmp.Or(o.Max, max(800, o.Min))
	o.Min = cmp.Or(o.Min, min(200, o.Max))
	return o
}

func chunkOptions(b config.BlockChunk) chunk.Options {
	return chunk.Options{Min: b.MinChars, Max: b.MaxChars, Prefer: chunk.Break(b.BreakPreference)}
}

// coalesce lays an account's values over the defaults.
func coalesce(def, over config.BlockCoalesce) stream.Coalesce {
	pick := func(a, b int) int {
		if b > 0 {
			return b
		}
		return a
	}
	return stream.Coalesce{
		Min: pick(def.MinChars, over.MinChars), Max: pick(def.MaxChars, over.MaxChars),
		Idle: time.Duration(pick(def.IdleMs, over.IdleMs)) * time.Millisecond,
	}
}
