package gateway

import (
	"fmt"
	"os"
)

// notes is where durable notes go before a conversation is summarized: the
// day's file below memory/ in the workspace. ok is false while the person has
// no workspace folder; it is not made behind their back.
func (g *Gateway) notes() (keep func(text string) error, ok bool) {
	dir := g.workspace(g.config.Snapshot().Config.Agents.Defaults.Workspace)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, false
	}
	return func(text string) error { return g.keepNotes(dir, text) }, true
}

// keepNotes adds to the day's notes. Nothing outside of the workspace can be
// reached, whatever links it holds.
func (g *Gateway) keepNotes(dir, text string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll("memory", 0o755); err != nil {
		return fmt.Errorf("make the folder of notes: %w", err)
	}
	now := g.opts.Now()
	f, err := root.OpenFile("memory/"+now.Format("2006-01-02")+".md", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the notes of the day: %w", err)
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("keep notes: %w", cerr)
		}
	}()
	if _, err := fmt.Fprintf(f, "\n## %s\n\n%s\n", now.Format("15:04"), text); err != nil {
		return fmt.Errorf("keep notes: %w", err)
	}
	return f.Sync()
}
