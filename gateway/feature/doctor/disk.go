package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Bounds of looking what folders take, and for how long it is said that copies for
// undo had to go.
const (
	maxLooked = 200_000
	shedSaid  = 24 * time.Hour
)

// disk: what do copies take that Hearth keeps for going back?
func (o Options) disk() []protocol.HealthCheck {
	u := o.Undo.Usage()
	_, old := o.tooMuch()
	good := int64(0)
	if st, err := os.Stat(o.Dir.LastGood()); err == nil {
		good = st.Size()
	}
	folders, restored := o.replaced()
	what := fmt.Sprintf("copies for going back take %d MB of the disk: for undo %d of at most %d MB, the last good copy of the database "+
		"%d MB, its old copies %d MB, what restores kept %d MB", (u.Bytes+good+old+restored)>>20, u.Bytes>>20, u.Limit>>20, good>>20, old>>20,
		restored>>20)
	out := []protocol.HealthCheck{{Area: "folder", State: protocol.CheckOK, What: what}}
	if free, ok := o.Dir.Free(); ok && restored > 0 && restored > free/2 {
		out[0].State = protocol.CheckWarn
		out[0].Advice = "what a restore kept aside takes more than half of what is free; when you do not want to go back, remove " + folders[0]
	}
	if len(u.Shed) > 0 && o.Now().Sub(u.ShedAt) < shedSaid {
		out = append(out, protocol.HealthCheck{Area: "folder", State: protocol.CheckWarn,
			What: fmt.Sprintf("%d files or more that were changed within an hour of %s cannot be taken back, such as %s: their copies took more "+
				"than %d MB", len(u.Shed), u.ShedAt.Format("2 January 15:04"), u.Shed[0], u.Limit>>20),
			Advice: "make room on the disk, or let the copies take more: `hearth config set undo.maxMB 4096`"})
	}
	return out
}

// replaced are the folders that restores kept aside, beside the state folder, and what
// they take.
func (o Options) replaced() (folders []string, bytes int64) {
	folders, _ = filepath.Glob(globbed(strings.TrimRight(string(o.Dir), `/\`)) + ".replaced-*")
	seen := 0
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
			if seen++; err != nil || seen > maxLooked {
				return fs.SkipAll
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
			return nil
		})
	}
	return folders, bytes
}

// globbed is a path as a pattern of itself.
func globbed(path string) string {
	if filepath.Separator == '\\' {
		return path // there nothing escapes
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
