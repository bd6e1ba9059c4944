package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/ref"
	"github.com/hearth-assistant/hearth/internal/random"
)

// telegramID is the network's name in keys, routes and settings.
const telegramID = "telegram"

// channels are the connected accounts. Settings of accounts are taken at the
// start; changes to them are used at the next one, which the log says.
type channels struct {
	g   *Gateway
	ctx context.Context // of everything that talks to networks

	mu   sync.Mutex
	list map[string]*attached // by network and account

	later   []string           // accounts that are connected when their token was found; fixed at the start
	missing []protocol.Problem // accounts whose secrets could not be had
	missed  []string           // their names
}

// attached is a channel and what became of it.
type attached struct {
	channel.Channel
	err error // why it does not run any more
}

func channelKey(id, account string) string { return id + "/" + account }

// openChannels makes the channels of the settings, without connecting them.
func (g *Gateway) openChannels(ctx context.Context) error {
	c := g.config.Snapshot().Config
	g.channels = &channels{g: g, ctx: context.WithoutCancel(ctx), list: map[string]*attached{}}
	g.live = &live{g: g, runs: map[string]*liveRun{}}
	if !c.Channels.Telegram.Enabled {
		return nil
	}
	for id, a := range c.Channels.Telegram.Accounts {
		if !a.Enabled {
			continue
		}
		if a.WebhookURL == "" && !g.secrets.Found(a.BotToken) {
			g.channels.later = append(g.channels.later, id) // the keychain may take its time
			continue
		}
		ch, err := g.telegramChannel(ctx, id, a)
		var missing *ref.Error
		switch {
		case errors.As(err, &missing):
			g.channels.miss(id, err)
		case err != nil:
			return &StartError{What: "The Telegram account " + id + " cannot be used", Err: err, Fix: "Correct channels.telegram in " + g.config.Path()}
		default:
			g.channels.list[channelKey(telegramID, id)] = &attached{Channel: ch}
		}
	}
	return nil
}

// telegramChannel makes the channel of an account, without connecting it.
func (g *Gateway) telegramChannel(ctx context.Context, id string, a config.ChannelAccount) (*telegram.Channel, error) {
	path := "channels.telegram.accounts." + id
	token, err := g.secrets.Value(ctx, path+".botToken", a.BotToken)
	if err != nil {
		return nil, err
	}
	hook, err := g.secrets.Value(ctx, path+".webhookSecret", a.WebhookSecret)
	if err != nil {
		return nil, err
	}
	opts := telegram.Options{
		Token: token.Reveal(), Account: id, BaseURL: a.APIRoot, MaxFile: int64(a.MediaMaxMB) << 20, Now: g.opts.Now, Logger: g.log,
		WebhookURL: a.WebhookURL, WebhookSecret: hook.Reveal(), OpenFile: g.openToSend,
	}
	if opts.Mode = telegram.Poll; a.WebhookURL != "" {
		opts.Mode = telegram.Webhook
	}
	return telegram.New(opts)
}

// attach makes a channel whose token had to be looked for; nil when it is not
// to be had, which problems says.
func (c *channels) attach(ctx context.Context, id string) *attached {
	ch, err := c.g.telegramChannel(ctx, id, c.account(telegramID, id))
	if err != nil {
		c.miss(id, err)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := &attached{Channel: ch}
	c.list[channelKey(telegramID, id)] = at
	return at
}

// unused are the accounts of the settings that came after the start, sorted. The
// caller holds mu.
func (c *channels) unused() (ids []string) {
	t := c.g.config.Snapshot().Config.Channels.Telegram
	for id, a := range t.Accounts {
		_, made := c.list[channelKey(telegramID, id)]
		if t.Enabled && a.Enabled && !made && !slices.Contains(c.later, id) && !slices.Contains(c.missed, id) && !a.BotToken.IsZero() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// miss notes an account that cannot be connected.
func (c *channels) miss(id string, err error) {
	c.g.log.Error("a channel is not connected", "channel", telegramID, "account", id, "err", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missed = append(c.missed, id)
	c.missing = append(c.missing, protocol.Problem{
		Code: "CHANNEL", Message: fmt.Sprintf("Telegram (%s) is not connected: %v. Mend that and restart Hearth.", id, err),
	})
}

// openDelivery wires what goes out to networks and what comes in from them.
func (g *Gateway) openDelivery() {
	g.deliverer = outbound.NewDeliverer(g.store, outbound.DelivererOptions{
		Channels: g.channels.Find, Limits: g.channels.limits, Now: g.opts.Now, Rand: random.Float, Logger: g.log,
	})
	g.contacts = contact.New(g.store, g.opts.Now, rand.Reader)
	g.arrivals.g = g
	g.gate = inbound.New(inbound.Options{
		DB: g.store, Contacts: g.contacts, Sessions: inbox{g},
		Settings:  func() inbound.Settings { return g.inboundSettings(g.config.Snapshot().Config) },
		Policy:    g.gatePolicy,
		IsCommand: func(text string) bool { return g.dispatch.IsCommand(text) }, Tell: g.tellStranger, OnDecision: g.noteDecision, Broken: g.messageBroke, Logger: g.log, Now: g.opts.Now, Local: g.opts.Now().Location(), NewID: newUUID,
	})
}

// Find implements owner.Channels.
func (c *channels) Find(id, account string) channel.Channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.list[channelKey(id, account)]; a != nil {
		return a.Channel
	}
	return nil
}

// all lists the channels, in order.
func (c *channels) all() (out []channel.Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.list)) {
		out = append(out, c.list[name].Channel)
	}
	return out
}

// run connects every channel and serves it until ctx ends.
func (c *channels) run(ctx context.Context) {
	var work sync.WaitGroup
	c.mu.Lock()
	for _, a := range c.list {
		work.Go(func() { c.serve(ctx, a) })
	}
	c.mu.Unlock()
	for _, id := range c.later {
		work.Go(func() {
			if a := c.attach(ctx, id); a != nil {
				c.serve(ctx, a)
			}
		})
	}
	work.Wait()
}

func (c *channels) serve(ctx context.Context, a *attached) {
	err := a.Run(ctx, c.g.gate.Receive)
	if err == nil || ctx.Err() != nil {
		return
	}
	c.g.log.Error("a channel has stopped", "channel", a.ID(), "account", a.Account(), "err", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	a.err = err
}

// problems says which channels do not work and why.
func (c *channels) problems() (out []protocol.Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out = slices.Clone(c.missing)
	for _, id := range c.unused() {
		out = append(out, protocol.Problem{Code: "CHANNEL", Message: fmt.Sprintf("Telegram (%s) was set up after Hearth had started. Restart Hearth to connect it.", id)})
	}
	for _, a := range c.list {
		if a.err != nil {
			out = append(out, protocol.Problem{Code: "CHANNEL", Message: fmt.Sprintf("%s (%s) is not connected: %v. Correct its settings and restart Hearth.", a.ID(), a.Account(), a.err)})
			continue
		}
		if t, ok := a.Channel.(*telegram.Channel); ok {
			if s := t.Status(); s.Problem != "" {
				out = append(out, protocol.Problem{Code: "CHANNEL", Message: s.Problem})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b protocol.Problem) int { return strings.Compare(a.Message, b.Message) })
	return out
}

// webhooks is the HTTP handler of channels that are called by their network;
// nil when there is none.
func (c *channels) webhooks() http.Handler {
	mux := http.NewServeMux()
	any := false
	for _, a := range c.list {
		if t, ok := a.Channel.(*telegram.Channel); ok {
			if path, h, ok := t.Webhook(); ok {
				mux.Handle(path, h)
				any = true
			}
		}
	}
	if !any {
		return nil
	}
	return mux
}

// account is the settings of one account.
func (c *channels) account(id, account string) (a config.ChannelAccount) {
	if id == telegramID {
		a = c.g.config.Snapshot().Config.Channels.Telegram.Accounts[account]
	}
	return a
}

// limits is how text is cut for a channel: never beyond what its network takes.
func (c *channels) limits(ch channel.Channel) chunk.Limits {
	a, own := c.account(ch.ID(), ch.Account()), ch.Limits()
	l := chunk.Limits{Chars: own.Text, Lines: own.Lines, Mode: chunk.Mode(a.ChunkMode)}
	if a.TextChunkLimit > 0 && (l.Chars == 0 || a.TextChunkLimit < l.Chars) {
		l.Chars = a.TextChunkLimit
	}
	return l
}

// streaming is what is seen of an answer while it is made.
type streaming struct {
	mode                    stream.Mode
	hideTools, hideCommands bool
	blocks                  bool
	block                   stream.BlockOptions
	steps                   chunk.Options // of previews in steps
}

func (c *channels) streaming(id, account, agent string) streaming {
	cfg := c.g.config.Snapshot().Config
	d, a := cfg.Agents.Defaults, c.account(id, account)
	pace := paceOf(cfg, agent)
	lines := a.Streaming.Preview
	if a.Streaming.Mode == string(stream.Progress) {
		lines = a.Streaming.Progress
	}
	s := streaming{
		mode: stream.Mode(a.Streaming.Mode), hideTools: !lines.ToolProgress, hideCommands: lines.CommandText == "status",
		steps: draftChunk(a.DraftChunk), blocks: stream.On(d.BlockStreamingDefault == "on", nil, a.BlockStreaming, id != telegramID),
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
