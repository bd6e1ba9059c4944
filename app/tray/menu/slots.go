package menu

import "time"

// Slots keeps requests in their rows for as long as they wait, so that a row
// under somebody's hand does not become another request. The zero value of a
// request is an empty row.
type Slots[T interface{ id() string }] struct {
	held  [RequestSlots]T
	freed [RequestSlots]time.Time
}

func (a Approval) id() string { return a.ID }
func (d Door) id() string     { return d.ID }

// A row that became free is not used again for this long.
const rest = 3 * time.Second

// Fill puts the waiting requests, oldest first, into rows. next is when a row
// becomes free for one that has none, zero: not by time.
func (s *Slots[T]) Fill(waiting []T, now time.Time) (rows [RequestSlots]T, next time.Duration) {
	placed := make(map[string]bool, len(waiting))
	for i, h := range s.held {
		still := false
		for _, w := range waiting {
			if h.id() != "" && w.id() == h.id() {
				s.held[i], still = w, true
				placed[w.id()] = true
			}
		}
		if !still && h.id() != "" {
			var none T
			s.held[i], s.freed[i] = none, now
		}
	}
	for _, w := range waiting {
		if placed[w.id()] {
			continue
		}
		for i, h := range s.held {
			left := rest - now.Sub(s.freed[i])
			if h.id() != "" {
				continue
			}
			if left > 0 {
				if next == 0 || left < next {
					next = left
				}
				continue
			}
			s.held[i] = w
			break
		}
	}
	return s.held, next
}
