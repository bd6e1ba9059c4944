package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Window is how much of a text reaches a model.
type Window struct {
	// Holds is the largest window that was seen to hold, in tokens; 0: none.
	Holds int
	// Fails is the smallest that was seen not to; 0: the claimed one holds, or
	// there was no time to find out.
	Fails int
	// Unsure: the model did not find the word even in a short text, so nothing can
	// be said about long ones.
	Unsure bool
	Usage  model.Usage
}

const (
	smallest = 1024
	// fill is how much of a window the text takes: what is left is for the
	// instructions and the answer.
	fill = 0.85
	// depth is where the word to remember stands: behind what servers keep of the
	// beginning, before everything that they cut.
	depth = 0.1
)

// Window tries a claimed window: first a little text, then all of it, then steps
// between. It ends with what it knows when ctx does. tell, if not nil, hears the
// size of each step.
func (p Prober) Window(ctx context.Context, claimed int, tell func(tokens int)) (Window, error) {
	var w Window
	perWord, found, err := p.first(ctx, &w.Usage)
	if err != nil {
		return w, err
	}
	if !found {
		w.Unsure = true
		return w, nil
	}
	w.Holds = min(smallest, claimed)
	steps := ladder(claimed)
	lo, hi := 0, len(steps) // steps below lo hold, those from hi on do not
	for at := len(steps) - 1; lo < hi; at = (lo + hi) / 2 {
		if tell != nil {
			tell(steps[at])
		}
		found, err := p.needle(ctx, steps[at], perWord, &w.Usage)
		switch {
		case ctx.Err() != nil:
			return w, nil
		case err != nil:
			return w, err
		case found:
			lo, w.Holds = at+1, steps[at]
		default:
			hi, w.Fails = at, steps[at]
		}
	}
	return w, nil
}

// ladder is the windows that are tried, smallest first.
func ladder(claimed int) (steps []int) {
	for n := 2 * smallest; n < claimed; n *= 2 {
		steps = append(steps, n)
		if half := n + n/2; half < claimed {
			steps = append(steps, half)
		}
	}
	if claimed > smallest {
		steps = append(steps, claimed)
	}
	return steps
}

// usualPerWord is how many tokens a word of the text takes where the server does
// not count, or counts something else.
const usualPerWord = 1.35

// first asks with a little text, which also tells how many tokens a word takes.
func (p Prober) first(ctx context.Context, used *model.Usage) (perWord float64, found bool, err error) {
	before := *used
	found, err = p.needle(ctx, smallest, usualPerWord, used)
	words := wordsFor(smallest, usualPerWord)
	perWord = float64(used.Input+used.CacheRead+used.CacheWrite-before.Input-before.CacheRead-before.CacheWrite) / float64(words)
	if perWord < 1 || perWord > 2.5 {
		perWord = usualPerWord
	}
	return perWord, found, err
}

func wordsFor(tokens int, perWord float64) int { return int(float64(tokens) * fill / perWord) }

// needle hides a word in a text of a size and asks for it. A server that says
// that the text is too long is believed.
func (p Prober) needle(ctx context.Context, tokens int, perWord float64, used *model.Usage) (found bool, err error) {
	word := fmt.Sprintf("%s-%d", colours[p.Draw(len(colours))], 100+p.Draw(900))
	a, err := p.ask(ctx, model.Request{
		System:   "Answer with the secret word of the text and nothing else.",
		Messages: said(p.text(wordsFor(tokens, perWord), word)),
	})
	*used = used.Add(a.Usage)
	switch {
	case errors.Is(err, errMute), model.ClassOf(err) == model.ClassContext, model.ClassOf(err) == model.ClassEmpty:
		return false, nil
	case err != nil:
		return false, err
	}
	return strings.Contains(strings.ToLower(a.Text), word), nil
}

// text is so many words with a sentence to remember near the beginning. Its
// words vary, because repeated ones cost less than real text does.
func (p Prober) text(words int, secret string) string {
	var b strings.Builder
	at := int(float64(words) * depth)
	for i := range words {
		if i == at {
			fmt.Fprintf(&b, "\nThe secret word is %s.\n", secret)
		}
		b.WriteString(fillers[p.Draw(len(fillers))])
		if i%14 == 13 {
			b.WriteString(".\n")
		} else {
			b.WriteByte(' ')
		}
	}
	b.WriteString("\nWhat is the secret word of this text?")
	return b.String()
}

var colours = []string{"amber", "indigo", "scarlet", "emerald", "violet", "copper"}

var fillers = strings.Fields(`river stone window morning paper garden travel music winter bridge candle market
forest letter silver coffee number island mirror story summer engine valley planet orange blanket village
teacher ocean pencil kitchen shadow cotton ladder autumn harbor basket meadow pocket thunder`)
