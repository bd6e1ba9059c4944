package seed

import (
	"slices"
	"strings"
	"testing"
)

// said keeps what a test would print.
type said struct {
	testing.TB
	lines []string
}

func (s *said) Helper() {}

func (s *said) Logf(format string, args ...any) {
	s.lines = append(s.lines, strings.TrimSpace(strings.ReplaceAll(format, "%s", args[0].(string))))
	s.TB.Logf(format, args...)
}

func draw(r interface{ Uint64() uint64 }) []uint64 {
	return []uint64{r.Uint64(), r.Uint64(), r.Uint64()}
}

func TestASeedRepeats(t *testing.T) {
	t.Setenv(Variable, "")
	if !slices.Equal(draw(Fixed(t, 3)), draw(Fixed(t, 3))) || slices.Equal(draw(Fixed(t, 3)), draw(Fixed(t, 4))) {
		t.Error("a fixed seed is not one sequence of its own")
	}
	if slices.Equal(draw(New(t)), draw(New(t))) {
		t.Error("two runs draw the same")
	}
	t.Setenv(Variable, "3")
	s := &said{TB: t}
	if again := draw(New(s)); !slices.Equal(again, draw(Fixed(t, 9))) {
		t.Error("HEARTH_SEED does not repeat")
	}
	t.Setenv(Variable, "")
	if !slices.Equal(draw(Fixed(t, 3)), func() []uint64 { t.Setenv(Variable, "3"); return draw(New(t)) }()) {
		t.Error("HEARTH_SEED=3 is not the sequence of 3")
	}
	if len(s.lines) != 1 || !strings.Contains(s.lines[0], Variable) {
		t.Errorf("the seed is not told: %q", s.lines)
	}
}

func TestRounds(t *testing.T) {
	t.Setenv(LongVariable, "")
	if n := Rounds(10, 200); n != 10 {
		t.Errorf("usually %d rounds", n)
	}
	t.Setenv(LongVariable, "1")
	if n := Rounds(10, 200); n != 200 {
		t.Errorf("%d rounds when there is time", n)
	}
}
