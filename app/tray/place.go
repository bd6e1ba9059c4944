package main

import "net/url"

// place names a part of the page, as the page reads it from its address.
func place(kind, arg string) string {
	if arg == "" {
		return kind
	}
	return kind + "/" + url.PathEscape(arg)
}
