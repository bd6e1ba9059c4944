package main

import (
	"net/url"
	"strings"
)

// place names a part of the page, as the page reads it from its address.
func place(kind, arg string) string {
	if arg == "" {
		return kind
	}
	return kind + "/" + url.PathEscape(arg)
}

// at adds a place to a link that lets a browser in.
func at(link, where string) string {
	if where == "" || where == "chat" || !strings.Contains(link, "#") {
		return link
	}
	return link + "&go=" + url.QueryEscape(where)
}
