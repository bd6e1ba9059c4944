package webcall

import "strings"

// Root is where a host of a service is reached: by itself, or, where a person set a
// proxy of their own, below that by its name. The proxy sees all that is said.
func Root(proxy, host string) string {
	if proxy = strings.TrimRight(proxy, "/"); proxy != "" {
		return proxy + "/" + host
	}
	return "https://" + host
}
