// Package release is how one version of Hearth becomes the next: what a source of
// releases says and who signed it (Trust, Manifest), getting it whole (Source),
// putting its programs beside those that run (Install), trying them on a copy of
// the store (Rehearse), and the state by which the new version is on trial until it
// is kept or taken back (State, Trial).
//
// A version is a folder; a link says which one is used. So every moment has one
// whole version, whichever step was cut short.
//
// The package starts no gateway, ends none and asks nobody: that is
// gateway/feature/update's and the command line's.
package release
