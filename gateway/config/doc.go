// Package config owns the one settings file, hearth.json: it reads JSON5,
// checks every known key, keeps the last good copy, edits the text without
// disturbing comments, and follows hand edits while the gateway runs.
//
// It only describes the file. What a setting does belongs to the package that
// uses it: each defines its own Options and gateway fills them. config keeps
// no secrets elsewhere, opens no network and starts no goroutine by itself
// (Watch runs in the caller's).
//
// Three promises hold everywhere: a person's file is never rewritten except by
// an edit that was asked for; a file with an error in it changes nothing that
// runs, so a mistake can never make the gateway more open than before; and an
// edit that was answered with success is on disk as a whole.
package config
