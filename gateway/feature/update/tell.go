package update

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/release"
)

// tellFor is how long a person is told of an update that was taken back.
const tellFor = 14 * 24 * time.Hour

// problems are updates that did not stay.
func (f *feature) problems() []protocol.Problem {
	st, err := release.Read(f.Dir)
	if err != nil {
		return []protocol.Problem{{Code: "UPDATE_STATE", Message: "What is known of updates cannot be read: " + err.Error() + "."}}
	}
	l := st.Last
	if l == nil || f.Now().Sub(l.At) > tellFor || l.Result != release.RolledBack && l.Kept == "" {
		return nil
	}
	return []protocol.Problem{{Code: "UPDATE_" + strings.ToUpper(strings.ReplaceAll(l.Result, "-", "_")), Message: words(l)}}
}

// words say how an update ended.
func words(l *release.Outcome) string {
	var s string
	switch l.Result {
	case release.RolledBack:
		s = fmt.Sprintf("The update to %s was taken back: %s. You go on with %s. `hearth update --retry` tries it again.", l.To,
			strings.TrimSuffix(l.Reason, "."), l.From)
	case release.WentBack:
		s = fmt.Sprintf("Hearth went back from %s to %s, as you wanted.", l.From, l.To)
	default:
		s = fmt.Sprintf("The update to %s was not made: %s.", l.To, strings.TrimSuffix(l.Reason, "."))
	}
	if l.Kept != "" {
		s += fmt.Sprintf(" The newer version had changed the database so that this one cannot use it, so it goes on with the copy of before: "+
			"%s said meanwhile not in it. Nothing was removed: the newer one is %s.", lost(l.Lost), l.Kept)
	}
	return s
}

func lost(n int) string {
	switch n {
	case 0:
		return "no messages that were"
	case 1:
		return "one message that was"
	}
	return fmt.Sprintf("%d messages that were", n)
}

// checks is what the doctor is told.
func (f *feature) checks(context.Context, protocol.DoctorParams) (out []protocol.HealthCheck) {
	for _, p := range f.problems() {
		what, advice, _ := strings.Cut(strings.TrimSuffix(p.Message, "."), ". ")
		out = append(out, protocol.HealthCheck{Area: "update", State: protocol.CheckWarn, What: what, Advice: advice})
	}
	if len(out) > 0 {
		return out
	}
	st, err := release.Read(f.Dir)
	switch {
	case err != nil:
	case st.Last != nil && st.Last.Result == release.Failed && f.Now().Sub(st.Last.At) < tellFor:
		out = append(out, protocol.HealthCheck{Area: "update", State: protocol.CheckWarn, What: strings.TrimSuffix(words(st.Last), "."),
			Advice: "mend what it says, then `hearth update`"})
	case st.Trial != nil:
		out = append(out, protocol.HealthCheck{Area: "update", State: protocol.CheckOK, What: "Hearth " + st.Trial.To + " is new here and is " +
			"being watched; if it fails, " + st.Trial.From + " comes back by itself"})
	case st.Checked != nil && release.Newer(st.Checked.Version, f.Version) && st.Bad[st.Checked.Version] == "":
		out = append(out, protocol.HealthCheck{Area: "update", State: protocol.CheckOK, What: "there is a new version, " + st.Checked.Version,
			Advice: "`hearth update` installs it"})
	case st.Checked != nil && st.Checked.Error != "":
		out = append(out, protocol.HealthCheck{Area: "update", State: protocol.CheckWarn, What: "it could not be looked for a new version: " +
			st.Checked.Error, Advice: "`hearth update --check` looks again"})
	}
	return out
}
