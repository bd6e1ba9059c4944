package cli

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// follower puts one run's answer together from what arrives: deltas with byte
// offsets, messages that a tool call closed, the terminal event, and pages of
// the history after a reconnect. All of it may come twice or out of step; the
// text grows without gaps and without repeats. It knows no connection.
type follower struct {
	run string

	live  []byte             // the run's text as the gateway tells it
	shown []byte             // the text that a person has seen; starts like live unless anew
	same  int                // bytes in which the two are known to agree
	anew  bool               // the last words begin the answer again
	parts []protocol.Message // the run's assistant messages that are complete, in order
	end   *outcome
}

// outcome is how a run ended.
type outcome struct {
	state   string // protocol.ChatFinal, ChatAborted, ChatError
	errText string
	errKind string
	usage   *protocol.Usage
	model   string
	builtIn bool
}

// between stands between the parts of an answer that tool calls separate.
const between = "\n\n"

// chat takes a chat event. It returns words to show, and gap when some are
// missing that only the history has.
func (f *follower) chat(e *protocol.ChatEvent) (words string, gap bool) {
	if e.RunID != f.run || f.end != nil {
		return "", false
	}
	switch e.State {
	case protocol.ChatDelta:
		return f.delta(e)
	case protocol.ChatFinal, protocol.ChatAborted, protocol.ChatError:
		if e.Message != nil {
			f.part(*e.Message)
		}
		words = f.know(f.whole(""))
		f.finish(&outcome{state: e.State, errText: e.ErrorMessage, errKind: e.ErrorKind, usage: e.Usage})
	}
	return words, gap
}

func (f *follower) delta(e *protocol.ChatEvent) (words string, gap bool) {
	if e.End == 0 && e.Message != nil { // a gateway that sends all text each time
		return f.know(e.Message.Text()), false
	}
	have := int64(len(f.live))
	switch {
	case e.End <= have:
		return "", false
	case e.Offset > have, e.End-e.Offset != int64(len(e.DeltaText)):
		return "", true
	}
	f.live = append(f.live, e.DeltaText[have-e.Offset:]...)
	return f.show(), false
}

// message takes a session.message event.
func (f *follower) message(m *protocol.Message) {
	if m != nil && f.end == nil && f.mine(m) && m.Role == protocol.MessageAssistant {
		f.part(*m)
	}
}

// history takes a page of the session: it is what the gateway has.
func (f *follower) history(h *protocol.ChatHistory) (words string) {
	if f.end != nil {
		return ""
	}
	var asked *protocol.Message
	for i := range h.Messages {
		m := &h.Messages[i]
		if f.mine(m) && m.Role == protocol.MessageUser {
			asked = m
		}
		f.message(m)
	}
	live := ""
	if r := h.InFlightRun; r != nil && r.RunID == f.run {
		live = r.Text
	}
	words = f.know(f.whole(live))
	if asked != nil && asked.Hearth != nil {
		f.settled(asked.Hearth)
	}
	return words
}

// settled ends the run when its message's receipt says that it has ended.
func (f *follower) settled(r *protocol.MessageReceipt) {
	o := &outcome{errText: r.Error}
	if n := len(f.parts); n > 0 {
		o.usage = f.parts[n-1].Usage
	}
	switch r.State {
	case protocol.ReceiptAnswered:
		o.state = protocol.ChatFinal
	case protocol.ReceiptAborted:
		o.state = protocol.ChatAborted
	case protocol.ReceiptFailed, protocol.ReceiptInterrupted:
		o.state = protocol.ChatError
	default:
		return
	}
	f.finish(o)
}

func (f *follower) finish(o *outcome) {
	for i := range f.parts {
		p := &f.parts[i]
		o.builtIn = o.builtIn || p.Provider == "guide" || p.Hearth != nil && p.Hearth.BuiltIn
		if p.Model != "" {
			o.model = strings.TrimPrefix(p.Provider+"/"+p.Model, "/")
		}
	}
	f.end = o
}

func (f *follower) mine(m *protocol.Message) bool {
	return m.Meta != nil && m.Meta.RunID == f.run || m.IdempotencyKey == f.run+":user"
}

// part keeps a complete message once, in the conversation's order.
func (f *follower) part(m protocol.Message) {
	if m.Meta == nil {
		m.Meta = &protocol.MessageMeta{Seq: 1<<62 + int64(len(f.parts))}
	}
	i, found := slices.BinarySearchFunc(f.parts, m.Meta.Seq, func(p protocol.Message, seq int64) int {
		return int(min(1, max(-1, p.Meta.Seq-seq)))
	})
	if !found {
		f.parts = slices.Insert(f.parts, i, m)
	}
}

// whole is the run's text: the parts, then what is being said.
func (f *follower) whole(live string) string {
	var texts []string
	for i := range f.parts {
		if t := f.parts[i].Text(); t != "" {
			texts = append(texts, t)
		}
	}
	if live != "" && (len(texts) == 0 || texts[len(texts)-1] != live) {
		texts = append(texts, live)
	}
	return strings.Join(texts, between)
}

// know takes the run's whole text as it stands.
func (f *follower) know(text string) string {
	f.live = append(f.live[:0], text...)
	f.same = 0
	return f.show()
}

// show returns what a person has not seen yet. A text that is shorter than
// what was shown, because its last words were lost in a crash or it is being
// said again, shows nothing; one that differs is shown from its beginning, so
// that what a person ends up with is what the gateway has.
func (f *follower) show() string {
	n := min(len(f.live), len(f.shown))
	if !bytes.Equal(f.live[f.same:n], f.shown[f.same:n]) {
		f.anew, f.same = true, len(f.live)
		f.shown = append(f.shown[:0], f.live...)
		return string(f.live)
	}
	f.same = n
	words := string(f.live[n:])
	f.shown = append(f.shown, words...)
	return words
}
