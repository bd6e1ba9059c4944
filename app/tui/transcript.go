package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// drawn is a message that was drawn, and for what.
type drawn struct {
	mark  string // width, state and the rest that its look depends on
	lines []string
}

// transcript draws the open session, one block of lines a message.
func (m *Model) transcript(w int) (blocks [][]string) {
	r := m.room
	if r == nil {
		return nil
	}
	switch {
	case r.more:
		blocks = append(blocks, []string{m.theme.dim.paint("  ↑ older messages"), ""})
	case r.earlier != nil:
		blocks = append(blocks, m.drawBegin(fmt.Sprintf("New conversation · ↑ the earlier one (%d messages)", r.earlier.Messages), w))
	}
	results := map[string]*protocol.Message{}
	liveAt := -1 // the live answer stands behind what it answers
	for i := range r.msgs {
		msg := &r.msgs[i]
		if msg.Role == protocol.MessageToolResult {
			results[msg.ToolCallID] = msg
		}
		if r.live != nil && (msg.Meta.RunID == r.live.run || msg.Hearth != nil && msg.Hearth.State == protocol.ReceiptAnswering) {
			liveAt = i
		}
	}
	if r.live != nil && liveAt < 0 {
		liveAt = len(r.msgs) - 1
	}
	speaker := ""
	for i := range r.msgs {
		msg := &r.msgs[i]
		if msg.Role != protocol.MessageToolResult && !r.waits(msg) {
			if last := len(blocks) - 1; msg.Nested() && last >= 0 { // it stands right under its program
				blocks[last] = trimBlank(blocks[last])
			}
			blocks = append(blocks, m.drawMessage(r, msg, results, w, speaker == msg.Role && speaker == protocol.MessageAssistant))
			speaker = msg.Role
		}
		if slices.Contains(r.ends, msg.Meta.Seq) {
			blocks, speaker = append(blocks, m.drawBegin("New conversation", w)), ""
		}
		if i == liveAt {
			blocks = append(blocks, m.drawLive(r, w, speaker == protocol.MessageAssistant))
			speaker = protocol.MessageAssistant
		}
	}
	if r.live != nil && len(r.msgs) == 0 {
		blocks = append(blocks, m.drawLive(r, w, false))
	}
	queued := len(r.queue()) > 0
	for _, o := range r.out {
		if o.err != "" || !queued {
			blocks = append(blocks, m.drawOutgoing(o, w))
		}
	}
	return blocks
}

// drawBegin is the line between two conversations of one session.
func (m *Model) drawBegin(words string, w int) []string {
	line := "── " + words + " "
	if n := w - width(line); n > 0 {
		line += strings.Repeat("─", n)
	}
	return []string{m.theme.dim.paint(line), ""}
}

// trimBlank leaves out the blank line at the end of a block.
func trimBlank(lines []string) []string {
	if n := len(lines); n > 0 && lines[n-1] == "" {
		return lines[:n-1]
	}
	return lines
}

// drawMessage draws one message, or takes it from the cache.
func (m *Model) drawMessage(r *room, msg *protocol.Message, results map[string]*protocol.Message, w int, goesOn bool) []string {
	again := msg.Role == protocol.MessageUser && r.last() == msg && len(r.out) == 0
	mark := fmt.Sprint(w, goesOn, r.expanded, msg.Timestamp, again)
	if msg.Hearth != nil {
		mark += string(msg.Hearth.State)
	}
	if v := msg.Versions; v != nil {
		mark += fmt.Sprint(v.At, len(v.Entries))
	}
	mark += m.photoStamp(r, msg, results)
	pending := false
	for _, b := range msg.Content {
		if b.Type == protocol.BlockToolCall {
			res := results[b.ID]
			mark += fmt.Sprint(res != nil, r.took[b.ID])
			pending = pending || res == nil
		}
	}
	if c, ok := r.cache[msg.Meta.ID]; ok && c.mark == mark && !pending {
		return c.lines
	}
	var lines []string
	switch msg.Role {
	case protocol.MessageUser:
		lines = m.drawUser(cmp.Or(terminal.Line(msg.Speaker()), "You"), terminal.Clean(msg.Text()),
			m.theme.dim.paint(versionMark(msg))+m.receipt(msg.Hearth, again), w)
		lines = append(lines, m.attachments(r, msg.Meta.ID, msg.Content, w)...)
		if msg.Hearth != nil && msg.Hearth.Error != "" {
			lines = append(lines, wrap([]span{{terminal.Clean(m.said(msg.Hearth.Error)), m.theme.bad}}, w, "  ", "  ")...)
		}
	default:
		lines = m.drawAnswer(r, msg, results, w, goesOn)
	}
	lines = append(lines, "")
	r.cache[msg.Meta.ID] = drawn{mark, lines}
	return lines
}

// drawUser draws what somebody said: as it was typed, not as Markdown.
func (m *Model) drawUser(who, text, mark string, w int) []string {
	lines := []string{m.theme.you.paint(who) + mark}
	for _, s := range strings.Split(strings.Trim(text, "\n"), "\n") {
		lines = append(lines, wrap([]span{{strings.ReplaceAll(s, "\t", "    "), ""}}, w, "  ", "  ")...)
	}
	return lines
}

func (m *Model) drawOutgoing(o *outgoing, w int) []string {
	t := &m.theme
	mark := t.dim.paint(" ○ sending")
	switch {
	case o.err != "":
		mark = t.bad.paint(" ✗ not sent") + t.dim.paint(" · Ctrl+R sends it again")
	case o.acked:
		mark = t.dim.paint(" ◷ accepted")
	case m.link != connected:
		mark = t.warn.paint(" ○ is sent when the connection is back")
	}
	lines := m.drawUser("You", terminal.Clean(o.text), mark, w)
	if o.err != "" {
		lines = append(lines, wrap([]span{{terminal.Clean(o.err), t.bad}}, w, "  ", "  ")...)
	}
	return append(lines, "")
}

// receipt is the mark on a person's message; last says that it can be sent
// again with a key.
func (m *Model) receipt(r *protocol.MessageReceipt, last bool) string {
	t := &m.theme
	if r == nil {
		return ""
	}
	again := ""
	if last {
		again = t.dim.paint(" · Ctrl+R sends it again")
	}
	switch r.State {
	case protocol.ReceiptAccepted:
		return t.dim.paint(" ◷ accepted")
	case protocol.ReceiptAnswering:
		return t.busy.paint(" ● answering")
	case protocol.ReceiptAnswered:
		return t.good.paint(" ✓")
	case protocol.ReceiptFailed:
		return t.bad.paint(" ✗ failed") + again
	case protocol.ReceiptAborted:
		return t.warn.paint(" ■ stopped") + again
	case protocol.ReceiptDropped:
		return t.warn.paint(" ✗ dropped") + again
	case protocol.ReceiptInterrupted:
		return t.warn.paint(" ■ interrupted") + again
	}
	return ""
}

// drawAnswer draws a message of the assistant or a note.
func (m *Model) drawAnswer(r *room, msg *protocol.Message, results map[string]*protocol.Message, w int, goesOn bool) []string {
	t := &m.theme
	var lines []string
	if !goesOn {
		lines = append(lines, m.heading(msg))
	}
	if text := terminal.Clean(msg.Text()); strings.TrimSpace(text) != "" {
		lines = append(lines, indent(m.md.lines(text, w-2))...)
	}
	lines = append(lines, m.attachments(r, msg.Meta.ID, msg.Content, w)...)
	for _, b := range msg.Content {
		if b.Type == protocol.BlockToolCall {
			res := results[b.ID]
			lines = append(lines, m.drawTool(r, msg, &b, res, w)...)
			if res != nil {
				lines = append(lines, m.attachments(r, res.Meta.ID, toolPictures(res), w)...)
			}
		}
	}
	if asked := r.asked(msg.Meta.RunID); msg.ErrorMessage != "" &&
		(asked == nil || asked.Hearth == nil || asked.Hearth.Error != msg.ErrorMessage) {
		lines = append(lines, wrap([]span{{terminal.Clean(m.said(msg.ErrorMessage)), t.bad}}, w, "  ", "  ")...)
	}
	switch {
	case msg.Hearth == nil:
	case msg.Hearth.State == protocol.ReceiptAborted:
		lines = append(lines, t.warn.paint("  ■ stopped here"))
	case msg.Hearth.State == protocol.ReceiptInterrupted:
		lines = append(lines, t.warn.paint("  ■ interrupted here"))
	}
	return lines
}

func (m *Model) heading(msg *protocol.Message) string {
	t := &m.theme
	switch {
	case msg.Role == protocol.MessageSystem:
		return t.dim.paint("Note")
	case msg.Provider == "hearth":
		return t.brand.paint("Hearth")
	case msg.Hearth != nil && msg.Hearth.BuiltIn || msg.Provider == "guide":
		return t.brand.paint("Hearth") + t.dim.paint(" · built-in guide, not an AI model")
	case msg.Model != "":
		return t.brand.paint("Hearth") + t.dim.paint(" · "+terminal.Line(msg.Provider+"/"+msg.Model))
	}
	return t.brand.paint("Hearth")
}

// drawTool draws a tool call as one line, and with its words when expanded.
func (m *Model) drawTool(r *room, msg *protocol.Message, b *protocol.Block, res *protocol.Message, w int) []string {
	t := &m.theme
	mark, took := t.busy.paint("⚙ "), ""
	if d, ok := r.took[b.ID]; ok {
		took = duration(d)
	} else if res != nil && res.Timestamp >= msg.Timestamp {
		took = duration(time.Duration(res.Timestamp-msg.Timestamp) * time.Millisecond)
	} else if at, ok := r.started[b.ID]; ok {
		took = duration(m.now().Sub(at).Truncate(time.Second))
	}
	switch {
	case res == nil && (r.live == nil || r.live.run != msg.Meta.RunID):
		mark, took = t.warn.paint("⚙ "), "its end was not seen"
	case res != nil && res.IsError:
		mark = t.bad.paint("✗ ")
	case res != nil:
		mark = t.good.paint("✓ ")
	}
	head := "  " + mark + terminal.Line(b.Name)
	if b.ParentID != "" { // of a program
		head = "    ↳ " + mark + terminal.Line(b.Name)
	}
	if args := terminal.Line(gist(b.Arguments)); args != "" {
		head += t.dim.paint(" " + args)
	}
	lines := []string{ends(clip(head, max(0, w-width(took)-2)), t.dim.paint(took), min(w, width(head)+2+width(took)))}
	if !r.expanded {
		return lines
	}
	if args := string(b.Arguments); args != "" && args != "{}" {
		lines = append(lines, rows(terminal.Clean(args), w, t.dim.paint("    → "), t.dim)...)
	}
	if res != nil {
		lines = append(lines, rows(strings.TrimRight(terminal.Clean(res.Text()), "\n"), w, t.dim.paint("    ← "), t.dim)...)
	}
	return lines
}

// drawLive draws the answer that is being given.
func (m *Model) drawLive(r *room, w int, goesOn bool) []string {
	t := &m.theme
	var lines []string
	if !goesOn {
		lines = append(lines, t.brand.paint("Hearth"))
	}
	text := strings.TrimLeft(terminal.Clean(string(r.live.text)), "\n")
	if text == "" {
		return append(lines, t.busy.paint("  "+phases(r.live.phase)+"…"), "")
	}
	r.stream.set(text, w-2)
	return append(append(lines, indent(r.stream.draw())...), "")
}

func phases(phase string) string {
	switch phase {
	case "running_tool":
		return "using a tool"
	case "compacting":
		return "summarizing the older part of the conversation"
	}
	return "thinking"
}

func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, s := range lines {
		if s != "" {
			s = "  " + s
		}
		out[i] = s
	}
	return out
}

// duration is how people say how long something took.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// gist is what matters of a tool's arguments on one line: the command, the path
// or the address where there is one, else all of them.
func gist(arguments json.RawMessage) string {
	var a map[string]any
	if json.Unmarshal(arguments, &a) != nil || len(a) == 0 {
		return strings.TrimPrefix(string(arguments), "{}")
	}
	for _, name := range []string{"command", "path", "url", "query", "task", "message", "code"} {
		if s, ok := a[name].(string); ok && s != "" {
			return s
		}
	}
	return string(arguments)
}
