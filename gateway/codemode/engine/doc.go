// Package engine runs hostile JavaScript: QuickJS as WebAssembly, each cell in
// a virtual machine of its own that can be stopped at any moment, put away as
// bytes and brought back, in this process or in another.
//
// It owns the machine and its limits: the engine's bytes (pinned by hash and
// rewritten at load, see prep.go), the memory, the clock, the bridge, the
// snapshots. It knows nothing of tools, policy, runs or sessions: what a cell
// asks for comes out as a Call, and whoever holds the VM answers it.
//
// Nothing is loaded before the first Start or Restore.
package engine
