package agent

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// words gathers what a model says into blocks, in the order in which it came:
// some services refuse reasoning that comes back in another place.
type words struct {
	done []model.Block
	open strings.Builder // the text or reasoning that is still coming
	kind blockKind
}

type blockKind int

const (
	noBlock blockKind = iota
	textBlock
	thinkingBlock
)

func (w *words) text(s string) { w.add(textBlock, s) }

// thinking takes reasoning and what signs it: a signature ends a piece.
func (w *words) thinking(s, signature string) {
	if s != "" {
		w.add(thinkingBlock, s)
	}
	if signature == "" {
		return
	}
	var b model.Block
	if w.kind == thinkingBlock {
		b.Thinking = w.open.String()
		w.open.Reset()
		w.kind = noBlock
	} else {
		w.close()
	}
	b.Signature = signature
	w.done = append(w.done, b)
}

func (w *words) call(c model.ToolCall) {
	w.close()
	w.done = append(w.done, model.Block{ToolCall: &c})
}

func (w *words) add(k blockKind, s string) {
	if w.kind != k {
		w.close()
		w.kind = k
	}
	w.open.WriteString(s)
}

func (w *words) close() {
	switch s := w.open.String(); {
	case s == "":
	case w.kind == textBlock:
		w.done = append(w.done, model.Block{Text: s})
	case w.kind == thinkingBlock:
		w.done = append(w.done, model.Block{Thinking: s})
	}
	w.open.Reset()
	w.kind = noBlock
}

func (w *words) blocks() []model.Block {
	w.close()
	return w.done
}
