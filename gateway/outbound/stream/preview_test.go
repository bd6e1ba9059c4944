package stream

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
)

// drafts runs a turn with a preview and returns what people saw, one line a
// change, with its time.
type draft struct {
	t   *testing.T
	net *loopback.Net
	p   *Preview
}

func preview(t *testing.T, o PreviewOptions, run func(d *draft)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &draft{t: t, net: loopback.NewNet()}
		if o.Channel == nil {
			o.Channel = d.net.Channel("loopback", "default", channel.Limits{Text: 100})
		}
		o.To = channel.Target{Conversation: "c"}
		d.p = NewPreview(t.Context(), o)
		run(d)
		d.p.End(FinalOther)
	})
}

func (d *draft) seen(want ...string) {
	d.t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, d.net.Texts()); diff != "" {
		d.t.Error("people see (-want +got):\n" + diff)
	}
}

func (d *draft) end(f Final, id string, edit bool) {
	d.t.Helper()
	if gotID, gotEdit := d.p.End(f); gotID != id || gotEdit != edit {
		d.t.Errorf("End(%s) is %q, %v; want %q, %v", f, gotID, gotEdit, id, edit)
	}
}

func (d *draft) calls(op loopback.Op, want int) {
	d.t.Helper()
	synctest.Wait()
	if n := d.net.Calls(op); n != want {
		d.t.Errorf("%d requests of %s, want %d", n, op, want)
	}
}

// Partial is a single preview that is replaced with the latest
// text, at most once in a while.
func TestPreviewPartial(t *testing.T) {
	preview(t, PreviewOptions{Mode: Partial}, func(d *draft) {
		for range 19 {
			d.p.Text("word ")
			pass(250 * time.Millisecond)
		}
		d.calls(loopback.OpSend, 1)
		d.calls(loopback.OpEdit, 4) // in 4.75 seconds
		d.end(FinalText, "1", true)
		d.calls(loopback.OpEdit, 4) // nothing is flushed at the end
	})
}

// A network that counts edits, or allows them for a while, gets the last one it
// takes with the answer; too late, the answer is a message of its own.
func TestPreviewKeepsToTheLimitsOfEdits(t *testing.T) {
	talk := func(d *draft) {
		for range 19 {
			d.p.Text("word ")
			pass(time.Second)
		}
	}
	for name, tt := range map[string]struct {
		limits channel.Limits
		edit   bool
		edits  int
	}{
		"any":         {channel.Limits{}, true, 18},
		"three":       {channel.Limits{Edits: 3}, true, 2},
		"ten seconds": {channel.Limits{EditWindow: 10 * time.Second}, false, 9},
		"slowly":      {channel.Limits{EditPace: 6 * time.Second}, true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			net := loopback.NewNet()
			preview(t, PreviewOptions{Mode: Partial, Channel: net.Channel("l", "d", tt.limits)}, func(d *draft) {
				talk(d)
				d.end(FinalText, "1", tt.edit)
				if n := net.Calls(loopback.OpEdit); n != tt.edits {
					t.Errorf("%d edits, want %d", n, tt.edits)
				}
			})
		})
	}
}

// Off shows nothing; nor does a channel that cannot edit, block
// streaming, or a selected quote.
func TestPreviewSkipped(t *testing.T) {
	for name, o := range map[string]PreviewOptions{
		"off": {Mode: Off}, "not set": {}, "block streaming": {Mode: Partial, BlockReplies: true},
		"selected quote": {Mode: Progress, SelectedQuote: true},
	} {
		t.Run(name, func(t *testing.T) {
			preview(t, o, func(d *draft) {
				d.p.Text("hello")
				d.p.Tool("web_search", "x", "")
				pass(time.Minute)
				d.seen()
				d.end(FinalText, "", false)
			})
		})
	}
	type plain struct{ channel.Channel }
	preview(t, PreviewOptions{Mode: Partial, Channel: plain{loopback.NewNet().Channel("l", "d", channel.Limits{})}}, func(d *draft) {
		d.p.Text("hello")
		d.end(FinalText, "", false)
	})
}

// Block updates in steps.
func TestPreviewBlock(t *testing.T) {
	preview(t, PreviewOptions{Mode: Block, Steps: chunk.Options{Min: 5, Max: 50}}, func(d *draft) {
		d.p.Text("first paragraph\n\nsecond")
		d.seen("first paragraph")
		d.p.Text(" one")
		pass(time.Minute)
		d.seen("first paragraph")
		d.p.Text("\n\nthird")
		d.seen("first paragraph\n\nsecond one")
		d.end(FinalText, "1", true)
	})
}

// Progress shows what is done, also while nothing but text is
// written, not the answer, and is cleared.
func TestPreviewProgress(t *testing.T) {
	preview(t, PreviewOptions{Mode: Progress}, func(d *draft) {
		d.p.Text("the answer")
		d.seen("• writing the answer…")
		d.p.Tool("web_search", "weather", "")
		pass(time.Minute)
		d.seen("• web_search: `weather`")
		d.p.Text("more of the answer")
		pass(time.Minute)
		d.seen("• web_search: `weather`\n• writing the answer…")
		d.p.Text("and more")
		pass(time.Minute)
		d.calls(loopback.OpEdit, 2)
		d.end(FinalText, "1", false)
	})
	preview(t, PreviewOptions{Mode: Progress}, func(d *draft) {
		d.p.Text("NO_REPLY")
		pass(time.Minute)
		d.seen()
	})
}

// What was put for the chat before a preview is sent before it.
func TestPreviewWaitsForItsTurn(t *testing.T) {
	turn := func(ctx context.Context) bool {
		<-ctx.Done()
		return false
	}
	preview(t, PreviewOptions{Mode: Partial, Turn: turn}, func(d *draft) {
		d.p.Text("one")
		pass(time.Minute)
		d.seen()
		d.p.Text(" two")
		d.end(FinalText, "", false)
	})
	preview(t, PreviewOptions{Mode: Partial, Turn: func(context.Context) bool { return true }}, func(d *draft) {
		d.p.Text("one")
		d.seen("one")
	})
}

// What tools do is shown in the preview.
func TestPreviewToolLines(t *testing.T) {
	for name, tc := range map[string]struct {
		o    PreviewOptions
		want []string
	}{
		"raw": {PreviewOptions{}, []string{"Let me see\n\n• read: `a.txt`\n• exec: `ls -l 'x'`\n• I am checking…"}},
		"commandText": {PreviewOptions{HideCommands: true}, []string{"Let me see\n\n• read: `a.txt`\n• exec: `running a command`\n" +
			"• I am checking…"}},
		"toolProgress off": {PreviewOptions{HideTools: true}, []string{"Let me see"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.o.Mode = Partial
			preview(t, tc.o, func(d *draft) {
				d.p.Text("Let me see")
				d.p.Tool("read", "a.txt", "")
				d.p.Tool("exec", "", "ls -l\n `x`")
				d.p.Note("I am checking…")
				pass(time.Minute)
				d.seen(tc.want...)
				d.p.Text(". It is there.")
				pass(time.Minute)
				d.seen("Let me see. It is there.")
			})
		})
	}
	preview(t, PreviewOptions{Mode: Progress}, func(d *draft) {
		for _, n := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			d.p.Tool(n, "", "")
		}
		d.p.Tool("h", strings.Repeat("x", 500), "")
		pass(time.Minute)
		if got := d.net.Texts(); len(got) != 1 || len([]rune(got[0])) > 100 || !strings.HasPrefix(got[0], "• d\n") {
			t.Errorf("%q", got)
		}
	})
}

// Media and error finals cancel what is pending and give the
// preview up for removal.
func TestPreviewMediaAndErrorFinals(t *testing.T) {
	for _, f := range []Final{FinalMedia, FinalError, FinalOther} {
		preview(t, PreviewOptions{Mode: Partial}, func(d *draft) {
			d.p.Text("one")
			d.seen("one")
			d.p.Text(" two")
			synctest.Wait()
			d.end(f, "1", false)
			d.seen("one")
		})
		preview(t, PreviewOptions{Mode: Partial}, func(d *draft) {
			d.end(f, "", false) // no throwaway draft
			d.seen()
		})
	}
}

// Nothing of a silent answer or of a directive is ever shown.
func TestPreviewHoldsBack(t *testing.T) {
	preview(t, PreviewOptions{Mode: Partial}, func(d *draft) {
		for _, s := range []string{"N", "O_", "REPLY"} {
			d.p.Text(s)
			pass(time.Minute)
		}
		d.seen()
		d.end(FinalOther, "", false)
	})
	preview(t, PreviewOptions{Mode: Partial}, func(d *draft) {
		d.p.Text("look\nMEDIA:/secret/path")
		pass(time.Minute)
		d.seen("look")
	})
}

// A long answer shows what fits into its first message.
func TestPreviewOfALongAnswer(t *testing.T) {
	preview(t, PreviewOptions{Mode: Partial, Limits: chunk.Limits{Chars: 100}}, func(d *draft) {
		for range 1000 {
			d.p.Text("words and words. ")
			pass(100 * time.Millisecond)
		}
		got := d.net.Texts()
		if len(got) != 1 || len(got[0]) > 100 || len(got[0]) < 50 {
			t.Errorf("%q", got)
		}
		if n := d.net.Calls(loopback.OpEdit); n > 10 {
			t.Errorf("%d edits of a message that did not change", n)
		}
		d.end(FinalText, "1", true)
	})
}

// What the network does to a preview never hurts the answer.
func TestPreviewFaults(t *testing.T) {
	fault := func(op loopback.Op, k loopback.Kind, after time.Duration) loopback.Fault {
		return loopback.Fault{On: op, Kind: k, After: after}
	}
	for name, tc := range map[string]struct {
		fault loopback.Fault
		id    string
		want  []string
	}{
		"send refused":   {fault(loopback.OpSend, loopback.Refused, 0), "", nil},
		"send uncertain": {fault(loopback.OpSend, loopback.Lost, 0), "", []string{"one"}},
		"edit refused":   {fault(loopback.OpEdit, loopback.Refused, 0), "1", []string{"one"}},
		"edit fails":     {fault(loopback.OpEdit, loopback.Passing, 0), "1", []string{"one two"}},
		"edit limited":   {fault(loopback.OpEdit, loopback.Limited, 20*time.Second), "1", []string{"one two"}},
		"slow send":      {fault(loopback.OpSend, loopback.OK, 5*time.Second), "1", []string{"one two"}},
	} {
		t.Run(name, func(t *testing.T) {
			preview(t, PreviewOptions{Mode: Partial}, func(d *draft) {
				d.net.Script(tc.fault)
				d.p.Text("one")
				pass(3 * time.Second)
				d.p.Text(" two")
				pass(time.Minute)
				d.seen(tc.want...)
				d.end(FinalText, tc.id, tc.id != "")
			})
		})
	}
	preview(t, PreviewOptions{Mode: Partial}, func(d *draft) { // End waits for the id
		d.net.Script(fault(loopback.OpSend, loopback.OK, 5*time.Second))
		d.p.Text("one")
		synctest.Wait()
		d.end(FinalText, "1", true)
	})
}

// The pace doubles each time the network asks to wait, and comes back by halves, each
// after ten edits that it took.
func TestPaceFollowsTheNetwork(t *testing.T) {
	p := &Preview{o: PreviewOptions{Every: time.Second, Channel: loopback.NewNet().Channel("loopback", "default", channel.Limits{})},
		pace: time.Second}
	p.o.Logger = slog.New(slog.DiscardHandler)
	var waits []time.Duration
	for _, after := range []time.Duration{0, time.Millisecond, time.Second, time.Minute} {
		waits = append(waits, p.failed(&channel.RateLimit{After: after}))
	}
	if want := []time.Duration{2 * time.Second, 4 * time.Second, slowest, time.Minute}; !slices.Equal(waits, want) {
		t.Errorf("it waits %v, want %v", waits, want)
	}
	for _, want := range []time.Duration{slowest, 4 * time.Second, 2 * time.Second, time.Second, time.Second} {
		if p.pace != want {
			t.Errorf("the pace is %v, want %v", p.pace, want)
		}
		for range enough {
			p.faster()
		}
	}
}

// timed writes down when edits are asked for.
type timed struct {
	*loopback.Channel
	at *[]time.Time
}

func (c timed) Edit(ctx context.Context, to channel.Target, id, text string) error {
	*c.at = append(*c.at, time.Now())
	return c.Channel.Edit(ctx, to, id, text)
}

// The pace of a whole turn: it begins with the channel's own, doubles with each limit
// up to eight seconds, and halves after ten good edits.
func TestPaceOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, at := loopback.NewNet(), []time.Time{}
		for range 4 {
			net.Script(loopback.Fault{On: loopback.OpEdit, Kind: loopback.Limited})
		}
		p := NewPreview(t.Context(), PreviewOptions{Mode: Partial, To: channel.Target{Conversation: "c"},
			Channel: timed{net.Channel("l", "d", channel.Limits{EditPace: time.Second}), &at}})
		for n := range 2000 {
			p.Note(strings.Repeat("x", n%100))
			pass(100 * time.Millisecond)
		}
		p.End(FinalText)
		var want, got []time.Duration
		for _, gap := range []struct{ n, seconds int }{{1, 2}, {1, 4}, {11, 8}, {10, 4}, {10, 2}, {5, 1}} {
			for range gap.n {
				want = append(want, time.Duration(gap.seconds)*time.Second)
			}
		}
		for i := range want {
			got = append(got, at[i+1].Sub(at[i]).Round(200*time.Millisecond))
		}
		if !slices.Equal(got, want) {
			t.Errorf("between edits pass\n%v, want\n%v", got, want)
		}
	})
}

// kept is a Record that writes down what it hears.
type kept struct {
	said []string
	fail bool
}

func (k *kept) Showing(_ context.Context, text string) error {
	k.said = append(k.said, "showing "+text)
	if k.fail {
		return errors.New("the disk is full")
	}
	return nil
}
func (k *kept) Shown(_ context.Context, id string) { k.said = append(k.said, "shown "+id) }
func (k *kept) NotShown(context.Context)           { k.said = append(k.said, "not shown") }

// What a crash must not lose is told before and after the message is sent.
func TestPreviewIsRecorded(t *testing.T) {
	fault := func(k loopback.Kind) loopback.Fault { return loopback.Fault{On: loopback.OpSend, Kind: k} }
	for name, tc := range map[string]struct {
		faults []loopback.Fault
		full   bool
		want   []string
	}{
		"sent":      {nil, false, []string{"showing one", "shown 1"}},
		"refused":   {[]loopback.Fault{fault(loopback.Refused)}, false, []string{"showing one", "not shown"}},
		"uncertain": {[]loopback.Fault{fault(loopback.Lost)}, false, []string{"showing one"}},
		"passing":   {[]loopback.Fault{fault(loopback.Passing)}, false, []string{"showing one", "not shown", "showing one two", "shown 1"}},
		"limited":   {[]loopback.Fault{fault(loopback.Limited)}, false, []string{"showing one", "not shown", "showing one two", "shown 1"}},
		"disk full": {nil, true, []string{"showing one"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{fail: tc.full}
			preview(t, PreviewOptions{Mode: Partial, Record: k}, func(d *draft) {
				d.net.Script(tc.faults...)
				d.p.Text("one")
				pass(time.Second / 2)
				d.p.Text(" two")
				pass(time.Minute)
				d.p.End(FinalText)
				if !slices.Equal(k.said, tc.want) {
					t.Errorf("%q, want %q", k.said, tc.want)
				}
				if n := len(d.net.Messages()); tc.full && n > 0 {
					t.Errorf("%d messages are there that nobody would know after a crash", n)
				}
			})
		})
	}
}

// A message that shows this answer since before a crash is gone on with; where edits
// are counted, one is left for the answer.
func TestPreviewGoesOn(t *testing.T) {
	for _, edits := range []int{0, 5} {
		net := loopback.NewNet()
		ch, to := net.Channel("l", "d", channel.Limits{Edits: edits}), channel.Target{Conversation: "c"}
		r, err := ch.Send(t.Context(), channel.Message{To: to, Text: "half of it"})
		if err != nil {
			t.Fatal(err)
		}
		k := &kept{}
		o := PreviewOptions{Mode: Partial, Channel: ch, Record: k, Before: Before{MessageID: r.MessageID, Since: time.Now()}}
		preview(t, o, func(d *draft) {
			d.p.Text("anew")
			pass(time.Minute)
			want := "anew"
			if edits > 0 {
				want = "half of it"
			}
			if got := net.Texts(); !slices.Equal(got, []string{want}) {
				t.Errorf("%d edits: people see %q", edits, got)
			}
			d.end(FinalText, r.MessageID, true)
			if len(k.said) > 0 {
				t.Errorf("it is recorded anew: %q", k.said)
			}
		})
	}
}
