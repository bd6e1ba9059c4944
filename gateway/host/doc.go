// Package host is the contract between the kernel and the features of the
// gateway, and what looks after the features while the gateway runs.
//
// A feature is one thing that Hearth can do, whole, in a folder of its own below
// gateway/feature. Its constructor takes the parts of the kernel that it needs,
// by type, and returns a Feature: a value that says what it adds (methods of the
// wire, tools, slash commands, checks) and what it does in the background.
// Package gateway lists the constructors (gateway/features.go) and hands them to
// Host.Add. Features do not import each other; one that needs another declares a
// small interface, and the list passes the other, or nothing.
//
//	features := host.New(host.Options{Enabled: enabled, Logger: logger})
//	features.Add(ctx, []host.Entry{
//		host.Of("undo", undo.New, undo.Options{Log: log, Agents: agents, Settings: settings}),
//	})
//
// Start order is the order of the list; Run of every feature begins with
// Host.Run and is supervised: one that ends with an error or a panic is logged,
// reported as a problem and started again after a pause that grows. Close calls
// Close of every feature in reverse order, also of those whose Run has failed.
//
// A feature that is switched off (features.<name>: false) is not made, so that
// nothing of it exists. One whose constructor fails is left out, reported by
// Problems, and the rest runs.
//
// Package host does not own the kernel's parts, does not know any feature by
// name, and finds nothing for anybody: there is no look-up of parts by name or
// type. What a feature needs, its constructor takes.
package host
