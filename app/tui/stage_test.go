package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/hearth-assistant/hearth/app/tui/picture"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// stage is the chat on a strict terminal, by the real program and renderer.
type stage struct {
	t    *testing.T
	term *strict
	m    *Model
	p    *tea.Program
	done chan struct{}

	mu     sync.Mutex
	seen   string // the screen as it was drawn last
	marks  []stroke
	places int
	given  map[int]bool
	idle   bool
}

// watched tells what the model drew.
type watched struct {
	*Model
	s *stage
}

func (w watched) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if ch, ok := msg.(chan struct{}); ok {
		close(ch)
	}
	_, cmd := w.Model.Update(msg)
	return w, cmd
}

func (w watched) View() tea.View {
	v := w.Model.View()
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	var b strings.Builder
	for l := range strings.SplitSeq(v.Content, "\n") {
		b.WriteString(strings.TrimRight(plainBlanks.Replace(ansi.Strip(l)), " ") + "\n")
	}
	w.s.seen, w.s.marks, w.s.places, w.s.idle = b.String(), w.pics.strokes, len(w.pics.seen), w.pics.busy == 0
	w.s.given = map[int]bool{}
	for n, p := range w.pics.byNumber {
		if p.given {
			w.s.given[n] = true
		}
	}
	return v
}

func newStage(t *testing.T, means picture.Means, g wire, w, h int, term string) *stage {
	s := &stage{t: t, term: newStrict(t, w, h), done: make(chan struct{})}
	n := 0
	s.m = newModel(t.Context(), g, "", "none", func() time.Time { return time.UnixMilli(1_700_000_000_000) },
		func() string { n++; return fmt.Sprint("run", n) })
	s.m.ticking = true
	canvas, out := newCanvas(s.term)
	s.m.pics = newAlbum(means, picture.Surroundings{}, canvas, 1000)
	s.m.pics.answers = picture.Answers{Cell: picture.Size{W: 10, H: 20}}
	if means == picture.Placed {
		s.m.pics.asked = picture.Auto
		s.m.pics.answers.Kitty = true
	}
	s.p = tea.NewProgram(watched{s.m, s}, tea.WithContext(t.Context()), tea.WithInput(nil), tea.WithOutput(out), tea.WithWindowSize(w, h),
		tea.WithEnvironment([]string{"TERM=" + term}), tea.WithColorProfile(colorprofile.TrueColor), tea.WithFPS(120), tea.WithoutSignalHandler(),
		tea.WithFilter(canvas.filter))
	go func() {
		defer close(s.done)
		if _, err := s.p.Run(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	}()
	s.p.Send(connectedMsg{protocol.HelloOK{Snapshot: protocol.Snapshot{SessionDefaults: &protocol.SessionDefaults{MainSessionKey: mainKey}}}})
	s.p.Send(uv.PrimaryDeviceAttributesEvent{62, 4})
	return s
}

// settle waits until the terminal shows what was drawn last, and all of it.
func (s *stage) settle(after string) { s.settleTo(after, 0) }

// settleTo waits for at least so many pictures, too.
func (s *stage) settleTo(after string, least int) {
	s.t.Helper()
	ch := make(chan struct{})
	s.p.Send(ch)
	<-ch
	patience := time.NewTimer(20 * time.Second)
	defer patience.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		why := s.differs()
		if n := s.shown(); why == "" && n < least {
			why = fmt.Sprintf("%d pictures are shown", n)
		}
		if why == "" {
			return
		}
		select {
		case <-s.term.told:
		case <-look.C: // the model may have changed without a write
		case <-patience.C:
			s.t.Fatalf("after %s: %s", after, why)
		}
	}
}

// shown counts the pictures on the screen, or in it.
func (s *stage) shown() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(len(s.marks), len(s.given), strings.Count(s.seen, "▀")/100)
}

// differs says in what the terminal is not as drawn.
func (s *stage) differs() string {
	s.mu.Lock()
	seen, marks, places, given, idle := s.seen, s.marks, s.places, s.given, s.idle
	s.mu.Unlock()
	s.term.mu.Lock()
	defer s.term.mu.Unlock()
	if len(s.term.odd) > 0 {
		s.t.Fatalf("the terminal does not know %q", s.term.odd)
	}
	if s.term.beyond != "" {
		return s.term.beyond
	}
	if got := s.term.text(); got != seen {
		return fmt.Sprintf("the terminal has\n%s\nnot\n%s", got, seen)
	}
	if !idle {
		return "pictures are being made"
	}
	if s.m.pics.means.Raw() && places != len(marks) {
		return fmt.Sprintf("%d of %d pictures are drawn", len(marks), places)
	}
	want := map[[2]int]stroke{}
	for _, k := range marks {
		for y := range k.H {
			for x := range k.W {
				want[[2]int{k.X + x, k.Y + y}] = k
			}
		}
	}
	for y := range s.term.h {
		for x := range s.term.w {
			c := s.term.at(y)[x]
			k, ok := want[[2]int{x, y}]
			switch {
			case !ok && (c.pic != pixels{} || c.put != ""):
				return fmt.Sprintf("a part of a picture is left at %d, %d: %v %q", x, y, c.pic, c.put)
			case !ok:
			case k.gone != "" && !strings.HasSuffix(c.put, fmt.Sprint("/", x-k.X, "/", y-k.Y)),
				k.gone == "" && (c.pic.x != x-k.X || c.pic.y != y-k.Y || !strings.Contains(k.draw, c.pic.of)):
				return fmt.Sprintf("%d, %d has %v %q of the picture at %v", x, y, c.pic, c.put, k.Place)
			}
		}
	}
	for n := range given {
		if !s.term.images[n] {
			return fmt.Sprintf("the terminal has no picture %d", n)
		}
	}
	if len(s.term.images) != len(given) {
		return fmt.Sprintf("the terminal keeps %v, and %v are in use", s.term.images, given)
	}
	return ""
}

func (s *stage) key(k tea.KeyPressMsg) {
	s.p.Send(k)
	s.settle(k.String())
}

// walk presses keys, resizes and has an answer come, in an order of its own.
func (s *stage) walk(steps int) {
	s.t.Helper()
	rng := seed.New(s.t)
	press := []tea.KeyPressMsg{{Code: tea.KeyUp, Mod: tea.ModShift}, {Code: tea.KeyUp, Mod: tea.ModShift},
		{Code: tea.KeyDown, Mod: tea.ModShift},
		{Code: tea.KeyPgUp}, {Code: tea.KeyPgDown}, {Code: tea.KeyEnd}, {Code: tea.KeyF1}, {Code: tea.KeyEscape}, {Code: '/', Text: "/"},
		{Code: tea.KeyBackspace}, {Code: 'b', Mod: tea.ModCtrl}, {Code: 'l', Mod: tea.ModCtrl}, {Code: 'j', Mod: tea.ModCtrl}}
	end := 0
	for range steps {
		switch n := rng.IntN(len(press) + 3); {
		case n < len(press):
			s.key(press[n])
		case n == len(press):
			w, h := 30+rng.IntN(100), 8+rng.IntN(32)
			s.term.resize(w, h)
			s.p.Send(tea.WindowSizeMsg{Width: w, Height: h})
			s.settle(fmt.Sprint("resize ", w, "×", h))
		default:
			words := "a word\n\n"
			ev, _ := json.Marshal(protocol.ChatEvent{RunID: "live", SessionKey: mainKey, State: protocol.ChatDelta, DeltaText: words,
				Offset: int64(end), End: int64(end + len(words))})
			end += len(words)
			s.p.Send(eventsMsg{{Event: protocol.EventChat, Payload: ev}})
			s.settle("words")
		}
	}
}

// Whatever is done, no picture stands where text is, none is left behind, and none
// is there after the end.
func TestPicturesStandWhereTheyShould(t *testing.T) {
	for _, c := range []struct {
		means picture.Means
		term  string
	}{{picture.Sixel, "xterm-256color"}, {picture.Sixel, "foot"}, {picture.ITerm, "wezterm"}, {picture.Placed, "xterm-256color"},
		{picture.Kitty, "xterm-kitty"}, {picture.Blocks, "xterm-256color"}} {
		t.Run(string(c.means)+" "+c.term, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.means, newGallery(t, 6), 90, 30, c.term)
			s.settleTo("the beginning", 1)
			s.walk(40)
			s.p.Quit()
			<-s.done
			if _, err := s.term.Write([]byte(s.m.pics.leave())); err != nil {
				t.Fatal(err)
			}
			s.term.mu.Lock()
			defer s.term.mu.Unlock()
			if n := s.term.pictures(); n != 0 || len(s.term.images) != 0 {
				t.Errorf("%d cells of pictures and the images %v are left", n, s.term.images)
			}
			if strings.Contains(s.term.title, "pictures") {
				t.Errorf("the title is %q", s.term.title)
			}
		})
	}
}

// Lines that come, go and move below a picture do not move it.
func TestPicturesStayWhereLinesMove(t *testing.T) {
	g := newGallery(t, 2)
	long := answer(1, "run0", "One.")
	for i := range 3 {
		id := fmt.Sprint("call", i)
		long.Content = append(long.Content, protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: "look", Arguments: json.RawMessage(`{"n":1}`)})
		g.history.Messages = append(g.history.Messages, protocol.Message{Role: protocol.MessageToolResult, ToolCallID: id,
			Content: protocol.TextBlocks("seen\n\n\n\nthis"), Meta: &protocol.MessageMeta{ID: id, Seq: int64(2 + i), RunID: "run0"}})
	}
	g.history.Messages[1] = long
	s := newStage(t, picture.Sixel, g, 90, 60, "xterm-256color")
	s.settleTo("the beginning", 2)
	for range 3 {
		s.key(tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl})
		s.key(tea.KeyPressMsg{Code: '/', Text: "/"})
		s.key(tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl})
		s.key(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	s.p.Quit()
	<-s.done
}

// The terminal of these tests can say that something is wrong.
func TestStrictSeesWhatIsLeft(t *testing.T) {
	s := newStrict(t, 20, 6)
	_, _ = s.Write([]byte("\x1b[2;3H\x1bP0;1q\"1;1;40;60#0;2;1;1;1~\x1b\\\x1b[2;3H\x1b[4X"))
	if n := s.pictures(); n != 12 {
		t.Errorf("%d cells of a picture; erasing characters does not take it away", n)
	}
	_, _ = s.Write([]byte("\x1b[2;3Habcd"))
	if n := s.pictures(); n != 8 || !strings.Contains(s.text(), "\n  abcd\n") {
		t.Errorf("%d cells of a picture\n%s", n, s.text())
	}
	_, _ = s.Write([]byte("\x1b[1;1H\x1b[M"))
	if s.at(1)[2].pic != (pixels{s.at(1)[2].pic.of, 0, 1}) || s.at(1)[2].pic.of == "" {
		t.Error("a picture does not scroll with its lines")
	}
	_, _ = s.Write([]byte("\x1b[2J"))
	if n := s.pictures(); n != 0 {
		t.Errorf("%d cells of a picture after clearing", n)
	}
}
