package hostzone

import (
	"golang.org/x/sys/windows/registry"
)

// system reads Windows' own name of the zone and looks up everybody else's.
func system() string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SYSTEM\CurrentControlSet\Control\TimeZoneInformation`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer func() { _ = k.Close() }()
	name, _, err := k.GetStringValue("TimeZoneKeyName")
	if err != nil {
		return ""
	}
	return ofWindows()[name]
}
