// Package docs holds the manual. The program carries the page about its
// settings, so that it can explain them.
package docs

import _ "embed"

// Configuration is docs/configuration.md.
//
//go:embed configuration.md
var Configuration string
