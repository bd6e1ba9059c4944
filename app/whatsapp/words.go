package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/hearth-assistant/hearth/gateway/channel/markup"
)

// format is what the library says, in a line.
func format(msg string, args []any) string {
	return strings.ReplaceAll(fmt.Sprintf(msg, args...), "\n", " ")
}

// dressed is a text with WhatsApp's own signs for how parts of it look.
func dressed(markdown string) string {
	plain, styles := markup.PlainStyled(markdown)
	units := utf16.Encode([]rune(plain))
	type sign struct {
		at   int
		text string
	}
	var begins, ends []sign
	for _, s := range styles {
		part := string(utf16.Decode(units[s.Start : s.Start+s.Length]))
		mark := map[markup.Style]string{markup.Bold: "*", markup.Italic: "_", markup.Monospace: "`"}[s.Style]
		lines := strings.Contains(part, "\n")
		if s.Style == markup.Monospace && lines {
			mark = "```"
		} else if lines || strings.TrimSpace(part) != part || strings.Contains(part, mark) {
			continue // phones would show the sign
		}
		begins = append(begins, sign{s.Start, mark})
		ends = append([]sign{{s.Start + s.Length, mark}}, ends...)
	}
	all := slices.Concat(ends, begins) // at one place what ends stands before what begins
	slices.SortStableFunc(all, func(a, b sign) int { return a.at - b.at })
	var out strings.Builder
	done := 0
	for _, s := range all {
		out.WriteString(string(utf16.Decode(units[done:s.at])) + s.text)
		done = s.at
	}
	out.WriteString(string(utf16.Decode(units[done:])))
	return out.String()
}

// mostSaid is how many messages are remembered.
const mostSaid = 2000

// said is what the latest messages say, for those that quote or change them.
type said struct {
	mu    sync.Mutex
	texts map[string]string
	gone  map[string]bool
	order []string
}

func newSaid() *said { return &said{texts: map[string]string{}, gone: map[string]bool{}} }

func (s *said) keep(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.texts[id]; !ok {
		s.order = append(s.order, id)
	}
	s.texts[id] = text
	if len(s.order) > mostSaid {
		delete(s.texts, s.order[0])
		delete(s.gone, s.order[0])
		s.order = append([]string(nil), s.order[1:]...)
	}
}

func (s *said) get(id string) (text string, known, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, known = s.texts[id]
	return text, known, s.gone[id]
}

func (s *said) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.texts[id]; ok {
		s.gone[id] = true
	}
}
