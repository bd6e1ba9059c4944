package notify

import (
	"context"
	"time"
)

// Options: Script is needed.
type Options struct {
	Chosen func(Choice)
	// Script runs the system's own program with arguments.
	Script func(ctx context.Context, args ...string) error
	Now    func() time.Time
}

// Desktop shows notes. Without a program of Apple's signing they have no
// buttons here and cannot be taken away again.
type Desktop struct{ o Options }

// New shows nothing yet.
func New(o Options) *Desktop { return &Desktop{o} }

// Show shows a note. The texts are handed over as arguments, never as part of
// the script.
func (d *Desktop) Show(ctx context.Context, n Note) error {
	return d.o.Script(ctx, "-e", "on run a", "-e", "display notification (item 2 of a) with title (item 1 of a)", "-e", "end run",
		Plain(n.Title, titleChars, 1), Plain(n.Text, textChars, textLines))
}

// Withdraw cannot be done here.
func (d *Desktop) Withdraw(context.Context, string) {}

// Close has nothing to end.
func (d *Desktop) Close() {}
