package dial

import (
	"net/url"
	"strings"
)

// At adds a place of the page, as the page reads it from its address, to a link
// that lets a browser or a window in: "settings/usage", "chat/KEY" with the key
// escaped. Nothing, and "chat", lead where the page was last.
func At(link, where string) string {
	if where == "" || where == "chat" || !strings.Contains(link, "#") {
		return link
	}
	return link + "&go=" + url.QueryEscape(where)
}
