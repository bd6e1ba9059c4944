// Package netlab makes small networks for tests: machines, cables and switches
// out of Linux network namespaces. They are cut off from the machine's own
// network, so a test may jam, spoof and unplug in them what it likes.
//
// It needs root's rights over networks and mounts, as root or as an ordinary user
// who was given them (build/test does that), and the programs ip, nsenter, setpriv
// and unshare; Avahi for a machine that shall have it. Where something is missing a test is skipped, or fails if
// HEARTH_REQUIRE_LAB is set.
package netlab
