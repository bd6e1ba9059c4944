//go:build !failpoint

package store

// schemaVersion is what this build writes; migrations lists how older ones
// become it.
func schemaVersion() uint32 { return 1 }

// migrations are the steps from schema 1 on, in order.
func migrations() []migration { return nil }
