package wire

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thoughts takes reasoning that a model wrote into its answer, as local
// models do, out of it: one <think>…</think> at the very start.
type thoughts struct {
	state thoughtState
	held  string // what may be part of a tag
}

type thoughtState int

const (
	undecided thoughtState = iota
	thinking
	between // behind the reasoning, where only line ends came yet
	speaking
)

// Content gives out words that may begin with reasoning in tags.
func (a *Answer) Content(s string) {
	t := &a.thoughts
	if t.state == speaking {
		a.Text(s)
		return
	}
	if t.state == between {
		if s = strings.TrimLeft(s, "\r\n"); s != "" {
			a.speak(s)
		}
		return
	}
	t.held += s
	if t.state == undecided {
		start := strings.TrimLeft(t.held, " \t\r\n")
		if len(start) < len(thinkOpen) && strings.HasPrefix(thinkOpen, start) {
			return
		}
		rest, tagged := strings.CutPrefix(start, thinkOpen)
		if !tagged {
			a.speak(t.held)
			return
		}
		t.state, t.held = thinking, rest
	}
	thought, answer, closed := strings.Cut(t.held, thinkClose)
	if closed {
		a.think(thought)
		t.state, t.held = between, ""
		a.Content(answer)
		return
	}
	keep := partial(t.held, thinkClose)
	a.think(t.held[:len(t.held)-keep])
	t.held = t.held[len(t.held)-keep:]
}

// think gives out reasoning without the line ends behind the opening tag.
func (a *Answer) think(s string) {
	if !a.thought {
		s = strings.TrimLeft(s, "\r\n")
	}
	a.Thinking(s)
}

func (a *Answer) speak(s string) {
	a.thoughts.state, a.thoughts.held = speaking, ""
	a.Text(s)
}

// flush gives out what was held back when the answer is whole. In one that
// broke off it is left out: it is at most a piece of a tag.
func (a *Answer) flush() {
	held := a.thoughts.held
	a.thoughts.held = ""
	if a.thoughts.state == thinking {
		a.think(held)
	} else {
		a.Text(held)
	}
}

// partial is how many bytes at the end of s begin tag.
func partial(s, tag string) int {
	for n := min(len(tag)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
