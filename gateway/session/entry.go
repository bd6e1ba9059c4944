package session

import (
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// entry is one of a transcript as far as models are concerned. It is never
// changed, so that it can be kept and given out again.
type entry struct {
	seq     int64
	role    string
	run     string         // that wrote it
	words   string         // as people read them
	said    model.Message  // what a model is given
	says    bool           // there is something to give
	old     *model.Message // what a model is given once it is old, where that is less
	size    int            // of its words, as windows are measured
	exclude bool           // a command or its reply, which models never see
	// What became of a person's message that has no answer of its own.
	dropped  bool // its beginning is told to the model with the next one
	answered bool // together with another
}

// turn is a message of a person and what followed it.
type turn []*entry

// entryOf is nil for entries that no model is given.
func entryOf(msg protocol.Message) *entry {
	if msg.Role == protocol.MessageSystem {
		return nil // of Hearth, for people only
	}
	if msg.Nested() {
		return nil // of a program, whose result tells the model what it wanted told
	}
	e := &entry{seq: msg.Meta.Seq, role: msg.Role, run: msg.Meta.RunID, words: msg.Text(), size: sizeOf(msg), exclude: msg.ExcludeFromContext}
	if r := msg.Hearth; r != nil {
		e.dropped = r.State == protocol.ReceiptDropped && r.Error == summarizedText
		e.answered = r.State == protocol.ReceiptAnswered
	}
	e.said, e.says = messageToModel(msg)
	e.said = e.said.Keep()
	if e.role == protocol.MessageToolResult {
		if short, less := shortResult(e.words); less {
			res := *e.said.Blocks[0].ToolResult
			res.Text = short
			old := model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &res}}}.Keep()
			e.old = &old
		}
	}
	return e
}

// given is what a model is given of it now: results before recent are old.
func (e *entry) given(recent int64) model.Message {
	if e.old != nil && e.seq < recent {
		return *e.old
	}
	return e.said
}

// entryOverhead is what an entry takes beside its words, by estimate.
const entryOverhead = 400

// written is how often the words are there: once more as a dialect writes them.
const written = 2

// weight is what it takes in memory, by estimate.
func (e *entry) weight() int {
	n := entryOverhead + len(e.run) + len(e.words)
	for _, b := range e.said.Blocks {
		n += (len(b.Text) + len(b.Thinking) + len(b.Signature)) * written
		if b.ToolCall != nil {
			n += entryOverhead + len(b.ToolCall.Arguments)*written
		}
		if b.ToolResult != nil {
			n += len(b.ToolResult.Text) * written
		}
	}
	if e.old != nil {
		n += 2 * keepEnds * written
	}
	return n
}

func weightOf(entries []*entry) (n int) {
	for _, e := range entries {
		n += e.weight()
	}
	return n
}

func (t turn) size() (n int) {
	for _, e := range t {
		n += e.size
	}
	return n
}
