package stream

import (
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
)

// board is what a preview shows, as the turn goes on.
type board struct {
	mu     sync.Mutex
	o      PreviewOptions
	filter reply.Stream
	steps  *chunk.Chunker
	answer strings.Builder
	lines  []string
	writes bool // Progress: the answer is being written
}

// writing is what Progress shows of an answer.
const writing = "• writing the answer…"

// maxLines of tool progress are kept.
const maxLines = 5

func (b *board) init(o PreviewOptions) {
	b.o = o
	b.steps = chunk.New(o.Steps.Clamp(o.Limits.Chars))
}

func (b *board) text(delta string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.filter.Feed(delta).Text
	if b.o.Mode == Block {
		var step strings.Builder
		for _, c := range b.steps.Feed(text) {
			step.WriteString(c.Body)
		}
		text = step.String()
	}
	if text == "" || !b.o.active() {
		return false
	}
	if b.o.Mode == Progress {
		fresh := !b.writes
		b.writes = true
		return fresh
	}
	b.lines = nil
	if full := b.o.Limits.Chars; full > 0 && b.answer.Len() > 8*full {
		return false // only the first message's worth is shown
	}
	b.answer.WriteString(text)
	return true
}

func (b *board) tool(name, detail, command string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.o.active() {
		return false
	}
	if name != "" {
		b.writes = false
	}
	if b.o.HideTools {
		return false
	}
	if command != "" {
		detail = "running a command"
		if !b.o.HideCommands {
			detail = command
		}
	}
	b.lines = append(b.lines, toolLine(name, detail))
	if len(b.lines) > maxLines {
		b.lines = b.lines[1:]
	}
	return true
}

// toolLine is one short line that cannot format what is around it.
func toolLine(name, detail string) string {
	detail = strings.Join(strings.Fields(detail), " ")
	if r := []rune(detail); len(r) > 120 {
		detail = string(r[:119]) + "…"
	}
	detail = strings.ReplaceAll(detail, "`", "'")
	switch {
	case name == "":
		return "• " + detail
	case detail == "":
		return "• " + name
	}
	return "• " + name + ": `" + detail + "`"
}

// render is the message as it should read now.
func (b *board) render() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := chunk.Trim(b.answer.String())
	if len(b.lines) > 0 {
		if text != "" {
			text += "\n\n"
		}
		text += strings.Join(b.lines, "\n")
	}
	if b.writes {
		text = strings.TrimPrefix(text+"\n"+writing, "\n")
	}
	chunks := chunk.Split(text, b.o.Limits)
	if len(chunks) == 0 {
		return ""
	}
	return chunk.Trim(chunks[0].Text())
}
