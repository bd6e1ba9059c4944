package answers

import (
	"cmp"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
)

// streaming is what is seen of an answer while it is made.
type streaming struct {
	mode                    stream.Mode
	hideTools, hideCommands bool
	blocks                  bool
	block                   stream.BlockOptions
	steps                   chunk.Options // of previews in steps
}

func (n *Networks) streaming(id, account, agent string) streaming {
	cfg := n.Settings.Snapshot().Config
	d, a := Section.Of(cfg), n.Channels.Account(id, account)
	kind, _ := n.Channels.Kinds.Get(id)
	pace := paceOf(cfg, agent)
	lines := a.Streaming.Preview
	if a.Streaming.Mode == string(stream.Progress) {
		lines = a.Streaming.Progress
	}
	s := streaming{
		mode: stream.Mode(a.Streaming.Mode), hideTools: !lines.ToolProgress, hideCommands: lines.CommandText == "status",
		steps: draftChunk(a.DraftChunk), blocks: stream.On(d.BlockStreaming == "on", nil, a.BlockStreaming, !kind.Blocks),
	}
	s.block = stream.BlockOptions{
		Chunk: chunkOptions(d.BlockStreamingChunk),
		Limit: a.TextChunkLimit, Break: stream.BreakAt(d.BlockStreamingBreak), Coalesce: coalesce(d.BlockStreamingMerged, a.Merged),
		Delay: stream.HumanDelay{
			Mode: stream.DelayMode(pace.Mode), Min: time.Duration(pace.MinMs) * time.Millisecond, Max: time.Duration(pace.MaxMs) * time.Millisecond,
		},
	}
	return s
}

// paceOf is the pause of an agent between the blocks of its answers.
func paceOf(c config.Config, agent string) Pace {
	if own, _ := AgentSection.Of(c, agent); own != (Pace{}) {
		return own
	}
	return Section.Of(c).Pace
}

// draftChunk are the steps of a preview, smaller than blocks.
func draftChunk(b hub.BlockChunk) chunk.Options {
	o := chunkOptions(b)
	o.Max = cmp.Or(o.Max, max(800, o.Min))
	o.Min = cmp.Or(o.Min, min(200, o.Max))
	return o
}

func chunkOptions(b hub.BlockChunk) chunk.Options {
	return chunk.Options{Min: b.MinChars, Max: b.MaxChars, Prefer: chunk.Break(b.BreakPreference)}
}

// coalesce lays an account's values over the defaults.
func coalesce(def, over hub.BlockCoalesce) stream.Coalesce {
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
