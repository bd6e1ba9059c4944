package server

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Delta is the text of a run as far as it has come. Text is cumulative: each
// call repeats all earlier text and adds to it. The caller has put the text
// where chat.history finds it before it calls Server.Delta, so that a client
// that subscribes and then reads misses nothing.
type Delta struct {
	RunID      string
	SessionKey string
	AgentID    string
	Text       string
	Timestamp  int64 // ms, of the message
}

// run is the live text of one answer, shared by all connections. What clients
// have got is in each connection's cursor.
type run struct {
	id, sessionKey, agentID string

	mu      sync.Mutex // guards all below; taken before a connection's
	text    string
	stamp   int64
	epoch   int // rises when the text starts anew
	seq     int64
	slim    pace
	full    pace
	ended   bool
	touched time.Time
}

// pace is how far the text is visible to one kind of client. All clients of a
// kind see the text grow at the same points, so they share encoded frames.
type pace struct {
	every time.Duration
	upto  int
	from  int // upto before the last step: the range most clients need
	seq   int64
	at    time.Time
	timer *time.Timer // a step that waits for its time
	frame []byte      // encoded [from, upto), made when first needed
}

// paceOf picks the pace of a connection's kind.
func (r *run) paceOf(slim bool) *pace {
	if slim {
		return &r.slim
	}
	return &r.full
}

// grow takes the newer text; mu is held.
func (r *run) grow(d *Delta) {
	if len(d.Text) < len(r.text) { // the answer was started over
		r.epoch++
		r.slim.restart()
		r.full.restart()
	}
	r.text, r.stamp = d.Text, d.Timestamp
}

func (p *pace) restart() { p.upto, p.from, p.frame = 0, 0, nil }

// step makes all whole runes of the text visible; mu is held. It reports
// whether there was anything new.
func (r *run) step(p *pace, now time.Time) bool {
	end := wholeRunes(r.text)
	if end <= p.upto {
		return false
	}
	r.seq++
	p.from, p.upto, p.seq, p.at, p.frame = p.upto, end, r.seq, now, nil
	return true
}

// wholeRunes is the length of s without a rune that is cut at the end.
func wholeRunes(s string) int {
	for i := 1; i <= utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return len(s) - i
			}
			break
		}
	}
	return len(s)
}

// encode returns the event of text[from:upto) for one kind of client, nil when
// there is nothing left to say, and where the client is after it. An upto of -1
// is all that is visible; a client of another epoch starts from the beginning.
// It takes mu.
func (r *run) encode(slim bool, from, upto, epoch int) (frame []byte, at, of int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil, upto, epoch
	}
	p := r.paceOf(slim)
	if epoch != r.epoch {
		from, upto = 0, p.upto
	}
	if upto < 0 || upto > p.upto {
		upto = p.upto
	}
	if from >= upto {
		return nil, upto, r.epoch
	}
	usual := from == p.from && upto == p.upto
	if usual && p.frame != nil {
		return p.frame, upto, r.epoch
	}
	e := protocol.ChatEvent{RunID: r.id, SessionKey: r.sessionKey, AgentID: r.agentID, Seq: p.seq,
		State: protocol.ChatDelta, DeltaText: r.text[from:upto]}
	if slim {
		e.Offset, e.End = int64(from), int64(upto)
	} else {
		e.Message = &protocol.Message{Role: protocol.MessageAssistant, Content: protocol.TextBlocks(r.text[:upto]), Timestamp: r.stamp}
	}
	frame, err := eventHead(protocol.EventChat, &e)
	if err != nil {
		return nil, upto, r.epoch // a struct of strings and numbers always encodes
	}
	if usual {
		p.frame = frame
	}
	return frame, upto, r.epoch
}

// stop ends the timers; mu is held.
func (r *run) stop() {
	for _, p := range []*pace{&r.slim, &r.full} {
		if p.timer != nil {
			p.timer.Stop()
			p.timer = nil
		}
	}
}
