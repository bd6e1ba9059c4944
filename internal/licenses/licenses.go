// Package licenses carries the notices of everything that Hearth's programs are
// made of and that others wrote: modules of Go, Go itself, the engine of code
// mode, and the page's packages. THIRD_PARTY_LICENSES is written by
//
//	go run ./build/licenses
//
// after a change in go.mod or in the page's packages; a test compares.
package licenses

import _ "embed"

//go:embed THIRD_PARTY_LICENSES
var text string

// Text is all of the notices.
func Text() string { return text }
