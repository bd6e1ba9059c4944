// Package support makes a report for somebody who helps. It holds nothing that a
// person said, named or chose, by what it is made of and not by looking for it: fixed
// words of this program, and numbers.
package support

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Limits of the log that is taken.
const (
	maxLines = 2000
	maxLine  = 256 << 10
)

// Report is what goes into it.
type Report struct {
	Version string
	System  string
	Go      string
	At      time.Time
	Status  *protocol.StatusDetail // nil: no gateway runs
	Checks  []protocol.HealthCheck
	Log     []Line
}

// Line is what is taken of one line of the log.
type Line struct {
	At      time.Time
	Level   string
	Words   string // fixed in the program
	Numbers map[string]float64
}

// fixed are words that stand in the program: its messages have no signs that paths,
// addresses, keys and other people's texts have.
var fixed = regexp.MustCompile(`^[A-Za-z][A-Za-z ,;:'()-]*$`)

// name is one of a program's own attributes.
var name = regexp.MustCompile(`^[a-zA-Z]+$`)

// The longest of both, in bytes. A count within an expression would be unrolled: 190 KB
// in every process for the first of them.
const (
	mostFixed = 161
	mostName  = 24
)

var levels = []string{"DEBUG", "INFO", "WARN", "ERROR"}

// Log takes from a log what can be shown: of its last lines the time, the level, the
// words that a part of Hearth always says there, and numbers.
func Log(r io.Reader) (out []Line, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var all map[string]any
		if json.Unmarshal(lines.Bytes(), &all) != nil {
			continue // cut short, or of somebody else
		}
		l := Line{Numbers: map[string]float64{}}
		text, _ := all["time"].(string)
		l.At, _ = time.Parse(time.RFC3339Nano, text)
		if l.Level, _ = all["level"].(string); !slices.Contains(levels, l.Level) {
			continue
		}
		if l.Words, _ = all["msg"].(string); len(l.Words) > mostFixed || !fixed.MatchString(l.Words) {
			l.Words = "(words left out)"
		}
		for k, v := range all {
			if n, ok := v.(float64); ok && len(k) <= mostName && name.MatchString(k) {
				l.Numbers[k] = n
			}
		}
		if out = append(out, l); len(out) > maxLines {
			out = out[1:]
		}
	}
	return out, lines.Err()
}

// Text is the report as people read it.
func (r Report) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Hearth %s, %s, %s, %s\n", r.Version, r.System, r.Go, r.At.UTC().Format(time.RFC3339))
	if s := r.Status; s != nil {
		fmt.Fprintf(&b, "running %d s, %d MB of memory, database %d MB, %d clients, %d answers running, %d waiting, %d not delivered\n",
			s.UptimeMs/1000, s.ResidentBytes>>20, s.StoreBytes>>20, s.Clients, s.ActiveRuns, s.QueuedRuns, s.Undelivered)
		for _, p := range s.Problems {
			fmt.Fprintf(&b, "problem %s\n", p.Code)
		}
	} else {
		b.WriteString("no gateway answers\n")
	}
	b.WriteString("\nChecks\n")
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%-4s %s\n", c.State, c.Area)
	}
	b.WriteString("\nLog\n")
	for _, l := range r.Log {
		fmt.Fprintf(&b, "%s %-5s %s", l.At.UTC().Format(time.RFC3339), l.Level, l.Words)
		for _, k := range slices.Sorted(maps.Keys(l.Numbers)) {
			fmt.Fprintf(&b, " %s=%g", k, l.Numbers[k])
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}
