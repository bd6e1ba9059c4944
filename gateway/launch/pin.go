package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// Pinner is what knows whether files can be kept as they were approved.
type Pinner interface {
	Pins(ctx context.Context) bool
}

// becomes are words of programs that change the user. They do nothing in a
// command whose files are pinned, unless root started it.
var becomes = regexp.MustCompile(`(^|[^\w./-]|/)(sudo|doas|pkexec|su)($|[^\w./-])`)

const maxScan = 1 << 20

// Pinning reports whether the files that a plan runs will be kept as they were
// approved until the command has read them. If not, words say so, for the
// question.
func Pinning(ctx context.Context, k Pinner, p plan.Plan, confined bool) (pin bool, words string) {
	files := exchangeable(p)
	if len(files) == 0 {
		return false, ""
	}
	runs := plan.Show(filepath.Base(files[0].Path))
	if len(files) > 1 {
		runs = fmt.Sprintf("%s and the other files that it runs", runs)
	}
	switch {
	case !confined && os.Geteuid() > 0 && becomesAnother(p, files):
		return false, "It uses sudo or the like, so this can only be compared with what you allow right before the start, and is then used " +
			"as found: " + runs + ". Another program that exchanges it in that very moment would not be noticed."
	case !k.Pins(ctx):
		return false, "On this system this can only be compared with what you allow right before the start, and is then used as found: " +
			runs + ". Another program that exchanges it in that very moment would not be noticed."
	}
	return true, ""
}

func becomesAnother(p plan.Plan, files []plan.File) bool {
	if becomes.MatchString(p.Command) || slices.ContainsFunc(p.Argv, becomes.MatchString) ||
		slices.ContainsFunc(p.Doubts, func(d plan.Doubt) bool { return d.Code == "privileged" }) {
		return true
	}
	return slices.ContainsFunc(files, func(f plan.File) bool {
		b, err := content(f.Path)
		return err == nil && len(b) <= maxScan && len(b) > 2 && string(b[:2]) != "\x7fE" && becomes.Match(b)
	})
}
