// Package config owns the one settings file, hearth.json: it reads JSON5,
// checks every known key, keeps the last good copy, edits the text without
// disturbing comments, and follows hand edits while the gateway runs.
//
// It owns the mechanics and no key: what a key is called, means and begins with
// stands in a section (Settings, Entries) of the feature or package that obeys it,
// and the file is read by the sections that the program hands in. config keeps no
// secrets elsewhere, opens no network and starts no goroutine by itself (Watch
// runs in the caller's).
//
// Three promises hold everywhere: a person's file is never rewritten except by
// an edit that was asked for; a file with an error in it changes nothing that
// runs, so a mistake can never make the gateway more open than before; and an
// edit that was answered with success is on disk as a whole.
package config
