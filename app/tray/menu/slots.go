package menu

import "time"

// Slots keeps requests in their rows for as long as they wait, so that a row
// under somebody's hand does not become another request.
type Slots struct {
	held  [ApprovalSlots]Approval
	freed [ApprovalSlots]time.Time
}

// A row that became free is not used again for this long.
const rest = 3 * time.Second

// Fill puts the waiting requests, oldest first, into rows. next is when a row
// becomes free for one that has none, zero: not by time.
func (s *Slots) Fill(waiting []Approval, now time.Time) (rows [ApprovalSlots]Approval, next time.Duration) {
	placed := make(map[string]bool, len(waiting))
	for i, h := range s.held {
		still := false
		for _, w := range waiting {
			if h.ID != "" && w.ID == h.ID {
				s.held[i], still = w, true
				placed[w.ID] = true
			}
		}
		if !still && h.ID != "" {
			s.held[i], s.freed[i] = Approval{}, now
		}
	}
	for _, w := range waiting {
		if placed[w.ID] {
			continue
		}
		for i, h := range s.held {
			left := rest - now.Sub(s.freed[i])
			if h.ID != "" {
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
