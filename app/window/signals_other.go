//go:build !(linux && desktop && cgo)

package window

import "context"

// repairSignals: only WebKitGTK needs it.
func repairSignals(context.Context) {}
