package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

func delta(at int, text string) *protocol.ChatEvent {
	return &protocol.ChatEvent{RunID: "r", State: protocol.ChatDelta, DeltaText: text, Offset: int64(at), End: int64(at + len(text))}
}

func said(seq int64, text string) protocol.Message {
	return protocol.Message{Role: protocol.MessageAssistant, Content: protocol.TextBlocks(text), Provider: "p", Model: "m",
		Meta: &protocol.MessageMeta{ID: fmt.Sprint("id", seq), Seq: seq, RunID: "r"}}
}

func asked(state protocol.ReceiptState) protocol.Message {
	return protocol.Message{Role: protocol.MessageUser, Content: protocol.TextBlocks("?"), IdempotencyKey: "r:user",
		Meta: &protocol.MessageMeta{ID: "q", Seq: 1, RunID: "r"}, Hearth: &protocol.MessageReceipt{State: state, Error: "why"}}
}

func final(m *protocol.Message) *protocol.ChatEvent {
	return &protocol.ChatEvent{RunID: "r", State: protocol.ChatFinal, Message: m}
}

func TestFollower(t *testing.T) {
	f := &follower{run: "r"}
	var b strings.Builder
	step := func(ev *protocol.ChatEvent, wantGap bool) {
		t.Helper()
		words, gap := f.chat(ev)
		b.WriteString(words)
		if gap != wantGap {
			t.Errorf("gap = %v after %+v", gap, ev)
		}
	}
	step(delta(0, "Let me "), false)
	step(delta(0, "Let me "), false)  // twice
	step(delta(4, "me look."), false) // overlapping
	step(delta(20, "not yet"), true)  // ahead
	step(&protocol.ChatEvent{RunID: "other", State: protocol.ChatFinal}, false)
	first := said(2, "Let me look.")
	f.message(&first)
	step(delta(12, "\n\nIt is "), false)
	last := said(4, "It is 5 °C.")
	f.message(&last) // may come before the terminal event
	step(final(&last), false)
	step(delta(20, "late"), false)
	if want := "Let me look.\n\nIt is 5 °C."; b.String() != want {
		t.Errorf("shown %q, want %q", b.String(), want)
	}
	if f.end == nil || f.end.state != protocol.ChatFinal || f.end.model != "p/m" {
		t.Errorf("end = %+v", f.end)
	}
}

// After a crash the run may be begun again, and a model seldom says the same
// twice: the new answer must not be mixed into the old one.
func TestFollowerAnotherTry(t *testing.T) {
	f := &follower{run: "r"}
	var got strings.Builder
	add := func(words string) {
		if f.anew {
			got.WriteString("|")
			f.anew = false
		}
		got.WriteString(words)
	}
	first, _ := f.chat(delta(0, "The sky is blue and"))
	add(first)
	add(f.history(&protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAnswering)}, InFlightRun: &protocol.InFlightRun{
		RunID: "r", Text: "The sky ", End: 8}}))
	for _, d := range []*protocol.ChatEvent{delta(8, "is "), delta(11, "gre"), delta(14, "en.")} {
		words, _ := f.chat(d)
		add(words)
	}
	if want := "The sky is blue and|The sky is green."; got.String() != want {
		t.Errorf("shown %q, want %q", got.String(), want)
	}
}

func TestFollowerFullDeltas(t *testing.T) {
	f := &follower{run: "r"}
	var got string
	for _, text := range []string{"He", "He", "Hello", "Hello wor"} {
		m := said(2, text)
		words, _ := f.chat(&protocol.ChatEvent{RunID: "r", State: protocol.ChatDelta, Message: &m})
		got += words
	}
	m := said(2, "Hello world")
	words, _ := f.chat(final(&m))
	if got += words; got != "Hello world" {
		t.Errorf("shown %q", got)
	}
}

func TestFollowerHistory(t *testing.T) {
	for _, tc := range []struct {
		name  string
		shown string
		h     protocol.ChatHistory
		want  string
		end   string // state, "" = goes on
	}{
		{"nothing yet", "", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAccepted)}}, "", ""},
		{"live", "ab", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAnswering)},
			InFlightRun: &protocol.InFlightRun{RunID: "r", Text: "abcd", End: 4}}, "abcd", ""},
		{"another run is live", "ab", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAccepted)},
			InFlightRun: &protocol.InFlightRun{RunID: "x", Text: "other", End: 5}}, "ab", ""},
		{"live behind a tool call", "ab", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAnswering), said(2, "ab")},
			InFlightRun: &protocol.InFlightRun{RunID: "r", Text: "cd", End: 6}}, "ab\n\ncd", ""},
		{"answered", "ab", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAnswered), said(2, "abcd")}}, "abcd",
			protocol.ChatFinal},
		{"interrupted, the last words are lost", "abcd", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptInterrupted),
			said(2, "ab")}}, "abcd", protocol.ChatError},
		{"failed", "", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptFailed)}}, "", protocol.ChatError},
		{"aborted", "ab", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAborted), said(2, "ab")}}, "ab",
			protocol.ChatAborted},
		{"answered anew", "old", protocol.ChatHistory{Messages: []protocol.Message{asked(protocol.ReceiptAnswered), said(2, "new")}}, "old|new",
			protocol.ChatFinal},
	} {
		f := &follower{run: "r"}
		got, _ := f.chat(delta(0, tc.shown))
		for range 2 { // reading again changes nothing
			words := f.history(&tc.h)
			if f.anew {
				got, f.anew = got+"|", false
			}
			got += words
		}
		end := ""
		if f.end != nil {
			end = f.end.state
		}
		if d := cmp.Diff([]string{tc.want, tc.end}, []string{got, end}); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

// Whatever is lost, repeated or late, the text that was shown is the answer.
func TestFollowerProperty(t *testing.T) {
	rng := seed.Fixed(t, 1)
	for round := range 2000 {
		var parts []string
		for range 1 + rng.IntN(3) {
			parts = append(parts, strings.Repeat(string(rune('a'+rng.IntN(26))), 1+rng.IntN(30)))
		}
		text := strings.Join(parts, between)
		f := &follower{run: "r"}
		var shown strings.Builder
		gap := false
		msgs := []protocol.Message{asked(protocol.ReceiptAnswering)}
		at := 0
		for i, part := range parts {
			end, least := at+len(part), 1
			if i > 0 { // the separator comes with the words behind it
				end, least = end+len(between), len(between)+1
			}
			for ; at < end; least = 1 {
				n := least + rng.IntN(end-at-least+1)
				if rng.IntN(4) > 0 { // else it is lost
					words, g := f.chat(delta(at, text[at:at+n]))
					shown.WriteString(words)
					gap = gap || g
				}
				at += n
				if gap && rng.IntN(3) == 0 {
					live := text[:at]
					for j := range i {
						live = strings.TrimPrefix(strings.TrimPrefix(live, parts[j]), between)
					}
					shown.WriteString(f.history(&protocol.ChatHistory{Messages: msgs, InFlightRun: &protocol.InFlightRun{RunID: "r", Text: live}}))
					gap = false
				}
			}
			m := said(int64(i+2), part)
			msgs = append(msgs, m)
			if i < len(parts)-1 {
				f.message(&m)
			} else {
				words, _ := f.chat(final(&m))
				shown.WriteString(words)
			}
		}
		if shown.String() != text {
			t.Fatalf("round %d: shown %q, the answer is %q", round, shown.String(), text)
		}
	}
}
