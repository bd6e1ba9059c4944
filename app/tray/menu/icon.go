package menu

import "time"

// Icon is the shape of the icon: not only a colour, so that everybody can tell
// them apart.
type Icon string

// The shapes. Updating is for an update under way.
const (
	IconReady    Icon = "ready"
	IconWorking  Icon = "working"
	IconNeedsYou Icon = "needs-you"
	IconPaused   Icon = "paused"
	IconProblem  Icon = "problem"
)

// IconOf is what the state alone asks for.
func IconOf(s State) Icon {
	switch {
	case s.Link == Lost:
		return IconProblem
	case s.Waiting > 0, s.Pending > 0:
		return IconNeedsYou
	case s.Paused != "":
		return IconPaused
	case len(s.Problems) > 0:
		return IconProblem
	case len(s.Working) > 0 || s.Link == Starting:
		return IconWorking
	}
	return IconReady
}

// Grace is how long the badge of work stays when the work has ended, so that a
// run of tools does not make the icon flicker.
const Grace = 2 * time.Second

// Badge is the icon over time. The zero value shows Ready.
type Badge struct {
	shown Icon
	at    time.Time // when the work ended
}

// Next is the icon to show now, and when to ask again: zero is with the next
// change of the state.
func (b *Badge) Next(s State, now time.Time) (Icon, time.Duration) {
	want := IconOf(s)
	if b.shown != IconWorking || want != IconReady {
		b.shown, b.at = want, time.Time{}
		return want, 0
	}
	if b.at.IsZero() {
		b.at = now
	}
	if left := Grace - now.Sub(b.at); left > 0 {
		return IconWorking, left
	}
	b.shown, b.at = want, time.Time{}
	return want, 0
}
