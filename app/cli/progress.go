package cli

import (
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/internal/text"
)

// progress shows how far something is: one line that is written over on a terminal, a line
// each tenth of the way elsewhere, nothing with --json.
type progress struct {
	a    *app
	what string // is being done, "" where that is clear
	wide int    // of the line that stands on a terminal
	step int64  // the last one of which there was a line
}

const (
	barWidth = 24
	// stride is how much there is between two lines where nobody knows of how much.
	stride = 64 << 20
)

// show says that so many bytes of total are there; 0: nobody knows of how many.
func (p *progress) show(what string, have, total int64) {
	if p.what != what {
		p.end()
		p.what, p.step = what, -1 // that it has begun is a line, too
	}
	step, words := have/stride, size(have)
	if total > 0 {
		step, words = have*10/total, fmt.Sprintf("%d %% of %s", have*10/total*10, size(total))
	}
	switch {
	case p.a.asJSON:
	case p.a.ErrTerminal:
		p.over(strings.TrimLeft(what+" "+barText(have, total), " "))
	case step > p.step:
		p.step = step
		_ = p.a.errs().print(strings.TrimLeft(what+" "+words, " "), "\n")
	}
}

// over writes a line over the one that stands there; there is none but on a terminal.
func (p *progress) over(words string) {
	if p.a.asJSON || !p.a.ErrTerminal {
		return
	}
	words = text.Ellipsis(words, 60)
	n := len([]rune(words))
	_ = p.a.errs().raw("\r" + words + strings.Repeat(" ", max(0, p.wide-n)))
	p.wide = n
}

// end leaves the line.
func (p *progress) end() {
	if p.wide > 0 {
		_ = p.a.errs().raw("\n")
	}
	p.wide, p.step, p.what = 0, 0, ""
}

func barText(have, total int64) string {
	if total <= 0 {
		return size(have)
	}
	full := int(min(have, total) * barWidth / total)
	return fmt.Sprintf("%s%s %3d %%  %s of %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), have*100/total, size(have),
		size(total))
}
