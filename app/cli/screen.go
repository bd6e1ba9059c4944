package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hearth-assistant/hearth/app/terminal"
)

// screen is where a command writes. All text goes through it, so that nothing
// from outside reaches a terminal unclean; only style adds escape sequences.
type screen struct {
	w      io.Writer
	colour bool
}

// style is text with a look of ours.
type style struct{ code, text string }

func bold(s string) style   { return style{"1", s} }
func dim(s string) style    { return style{"2", s} }
func red(s string) style    { return style{"31", s} }
func green(s string) style  { return style{"32", s} }
func yellow(s string) style { return style{"33", s} }

// print writes parts that are strings or styles.
func (s screen) print(parts ...any) error {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case style:
			t := clean(p.text)
			if s.colour && t != "" {
				t = "\x1b[" + p.code + "m" + t + "\x1b[0m"
			}
			b.WriteString(t)
		case string:
			b.WriteString(clean(p))
		default:
			b.WriteString(clean(fmt.Sprint(p)))
		}
	}
	_, err := io.WriteString(s.w, b.String())
	return err
}

// json writes v on lines of its own, for people who read it and for programs.
func (s screen) json(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	return s.rawJSON(b, err)
}

// jsonLine writes v on one line.
func (s screen) jsonLine(v any) error {
	b, err := json.Marshal(v)
	return s.rawJSON(b, err)
}

func (s screen) rawJSON(b []byte, err error) error {
	if err != nil {
		return fmt.Errorf("write the answer as JSON: %w", err)
	}
	_, err = s.w.Write(append(terminal.CleanJSON(b), '\n'))
	return err
}

// table writes rows whose last column may be long; cells are one line each.
func (s screen) table(head []string, rows [][]string) error {
	width := make([]int, len(head))
	for _, r := range append([][]string{head}, rows...) {
		for i, c := range r {
			width[i] = max(width[i], ansi.StringWidth(line(c)))
		}
	}
	put := func(r []string, look func(string) style) error {
		var parts []any
		for i, c := range r {
			c = line(c)
			if i < len(r)-1 {
				c += strings.Repeat(" ", width[i]-ansi.StringWidth(c)+2)
			}
			if look != nil {
				parts = append(parts, look(c))
			} else {
				parts = append(parts, c)
			}
		}
		return s.print(append(parts, "\n")...)
	}
	if strings.Join(head, "") != "" { // without it names stand in the first column
		if err := put(head, dim); err != nil {
			return err
		}
	}
	for _, r := range rows {
		if err := put(r, nil); err != nil {
			return err
		}
	}
	return nil
}

func clean(s string) string { return terminal.Clean(s) }

// line is clean text on one line, for table cells and messages.
func line(s string) string { return terminal.Line(s) }

// raw writes text of our own that moves the cursor; nothing from outside may be
// in it uncleaned.
func (s screen) raw(text string) error {
	_, err := io.WriteString(s.w, text)
	return err
}
