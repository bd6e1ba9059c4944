package policy

import "time"

// ResetMode says what makes a session old.
type ResetMode string

const (
	ModeDaily ResetMode = "daily" // at AtHour every day, and after IdleMinutes if set
	ModeIdle  ResetMode = "idle"  // after IdleMinutes without a message
)

const (
	defaultHour = 4
	defaultIdle = 60
)

// Reset is one rule as somebody wrote it; what is not set comes from the rule
// above it.
type Reset struct {
	Mode        ResetMode `json:"mode,omitempty"`
	AtHour      *int      `json:"atHour,omitempty"` // 0–23, local time of the gateway
	IdleMinutes int       `json:"idleMinutes,omitempty"`
}

// Type is the sort of session that ResetByType distinguishes.
type Type string

const (
	TypeDM     Type = "dm"
	TypeGroup  Type = "group"
	TypeThread Type = "thread"
)

// Type of the session; "" for those that are no conversation.
func (n Named) Type() Type {
	switch n.Kind {
	case KindMain, KindDirect:
		return TypeDM
	case KindGroup, KindChannel:
		return TypeGroup
	case KindThread:
		return TypeThread
	}
	return ""
}

// Resets are all rules about old sessions.
type Resets struct {
	Base        *Reset
	ByType      map[Type]Reset
	ByChannel   map[string]Reset
	IdleMinutes int // the old session.idleMinutes
}

// Rule is what holds for one session. Hour is -1 without a daily reset, Idle
// is 0 without a limit.
type Rule struct {
	Hour int
	Idle time.Duration
}

// For returns the rule for a session type and channel. A channel's own rule
// goes before all others.
func (r Resets) For(t Type, channel string) Rule {
	var layers []Reset // the nearest first
	if c, ok := r.ByChannel[channel]; ok && channel != "" {
		layers = append(layers, c)
	} else {
		if c, ok := r.ByType[t]; ok {
			layers = append(layers, c)
		}
		if r.Base != nil {
			layers = append(layers, *r.Base)
		}
	}
	var mode ResetMode
	hour, idle := -1, 0
	for _, l := range layers {
		if mode == "" {
			mode = l.Mode
		}
		if hour < 0 && l.AtHour != nil {
			hour = *l.AtHour
		}
		if idle == 0 {
			idle = l.IdleMinutes
		}
	}
	if idle == 0 {
		idle = r.IdleMinutes
	}
	if mode == "" {
		mode = ModeDaily
		if r.IdleMinutes > 0 && r.Base == nil && len(r.ByType) == 0 && len(layers) == 0 {
			mode = ModeIdle // as files from before session.reset mean it
		}
	}
	if mode == ModeIdle {
		if idle == 0 {
			idle = defaultIdle
		}
		return Rule{Hour: -1, Idle: time.Duration(idle) * time.Minute}
	}
	if hour < 0 {
		hour = defaultHour
	}
	return Rule{Hour: hour, Idle: time.Duration(idle) * time.Minute}
}

// Holding is the rule for a session when a message comes from a network, or
// with channel "" from the person's own page, terminal or program. ok is false
// where no rule holds: a chat that somebody made never begins anew by itself,
// and the home chat, when its own person writes, only by a rule that somebody
// wrote down. A network's chat stays one, whoever writes in it.
func (r Resets) Holding(n Named, channel, ours string) (rule Rule, ok bool) {
	switch {
	case channel != "":
		return r.For(n.Type(), channel), true
	case n.Kind == KindMain:
		return r.For(n.Type(), ours), r.written(n.Type(), ours)
	case n.Type() != "":
		return r.For(n.Type(), n.Channel), true
	}
	return Rule{}, false
}

// written: somebody set a rule that concerns such sessions.
func (r Resets) written(t Type, channel string) bool {
	_, byType := r.ByType[t]
	_, byChannel := r.ByChannel[channel]
	return r.Base != nil || byType || byChannel || r.IdleMinutes > 0
}

// Verdict says whether a session is old, since when and by which rule.
type Verdict struct {
	Stale bool
	Rule  ResetMode
	At    time.Time
}

// Stale looks at a session when a message arrives. A clock that was set back
// makes no session old.
func (r Rule) Stale(lastUpdate, now time.Time, zone *time.Location) Verdict {
	var v Verdict
	if !now.After(lastUpdate) {
		return v
	}
	if r.Hour >= 0 {
		if at := nextBoundary(lastUpdate, zone, r.Hour); !at.After(now) {
			v = Verdict{Stale: true, Rule: ModeDaily, At: at}
		}
	}
	if r.Idle > 0 {
		if at := lastUpdate.Add(r.Idle); at.Before(now) && (!v.Stale || at.Before(v.At)) {
			v = Verdict{Stale: true, Rule: ModeIdle, At: at}
		}
	}
	return v
}

// nextBoundary is the first daily reset after t.
func nextBoundary(t time.Time, zone *time.Location, hour int) time.Time {
	y, m, d := t.In(zone).Date()
	// The day before can still have its reset ahead when a zone skips a day.
	for day := d - 1; ; day++ {
		if at := wall(y, m, day, hour, zone); at.After(t) {
			return at
		}
	}
}

// wall is the moment at which a clock on the wall first shows hour o'clock or
// later on a day. An hour that the clock jumps over counts as the moment of
// the jump; of an hour that comes twice the first counts.
func wall(y int, m time.Month, d, hour int, zone *time.Location) time.Time {
	t := time.Date(y, m, d, hour, 0, 0, 0, zone)
	want := time.Date(y, m, d, hour, 0, 0, 0, time.UTC)
	shown := func(t time.Time) time.Time {
		_, off := t.Zone()
		return t.UTC().Add(time.Duration(off) * time.Second)
	}
	start, end := t.ZoneBounds()
	if s := shown(t); !s.Equal(want) { // jumped over: Date is off to either side
		if s.Before(want) {
			return end
		}
		return start
	}
	if start.IsZero() {
		return t
	}
	_, off := t.Zone()
	_, before := start.Add(-time.Nanosecond).Zone()
	if first := t.Add(time.Duration(off-before) * time.Second); first.Before(start) && first.Before(t) {
		return first
	}
	return t
}
