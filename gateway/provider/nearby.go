package provider

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Nearby reports whether a model runs on this machine, so that asking it sends
// nothing away. What is not known is not nearby.
func (r *Registry) Nearby(ref model.Ref) bool {
	if ref.Provider == r.guideChoice().Ref.Provider {
		return true
	}
	x, ok := r.view().reach(ref.Provider)
	if !ok {
		return false
	}
	u, err := url.Parse(x.baseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && net.IP(a.AsSlice()).IsLoopback()
}
