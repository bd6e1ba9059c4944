package node

import (
	"context"
	"encoding/json"
	"net"
	"runtime"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// clientInfo is how this machine presents itself.
func clientInfo(version, name string) protocol.ClientInfo {
	return protocol.ClientInfo{
		ID: "node-host", Mode: "node", Version: version, DisplayName: name,
		Platform: platform(), DeviceFamily: family(), ModelIdentifier: runtime.GOARCH,
	}
}

// platform is what other node hosts call this system.
func platform() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

func family() string {
	switch runtime.GOOS {
	case "darwin":
		return "Mac"
	case "windows":
		return "Windows"
	case "linux":
		return "Linux"
	}
	return runtime.GOOS
}

func (h *Host) deviceInfo(context.Context, *conn, json.RawMessage) (any, error) {
	name, version := system()
	locale, _, _ := strings.Cut(h.env("LANG"), ".")
	return map[string]any{
		"deviceName": h.o.Name, "modelIdentifier": runtime.GOARCH, "systemName": name, "systemVersion": version,
		"appVersion": h.o.Version, "appBuild": h.o.Version, "locale": strings.ReplaceAll(locale, "_", "-"),
	}, nil
}

// deviceStatus is what the machine has left; what it cannot tell is left out.
func (h *Host) deviceStatus(context.Context, *conn, json.RawMessage) (any, error) {
	status := "unsatisfied"
	kinds := []string{}
	all, err := net.Interfaces()
	if err == nil {
		for _, i := range all {
			if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
				continue
			}
			status = "satisfied"
			kind := "wired"
			if strings.HasPrefix(i.Name, "wl") || strings.HasPrefix(i.Name, "wifi") {
				kind = "wifi"
			}
			kinds = append(kinds, kind)
		}
	}
	out := map[string]any{
		"network": map[string]any{"status": status, "isExpensive": false, "isConstrained": false, "interfaces": kinds},
		"thermal": map[string]any{"state": "nominal"}, "cpuCount": runtime.NumCPU(),
	}
	if total, free, ok := disk(h.o.Home); ok {
		out["storage"] = map[string]any{"totalBytes": total, "freeBytes": free, "usedBytes": total - free}
	}
	if s, ok := uptime(); ok {
		out["uptimeSeconds"] = s
	}
	if b, ok := battery(); ok {
		out["battery"] = b
	}
	return out, nil
}

// power is a battery.
type power struct {
	Level float64 `json:"level"` // 0 to 1
	State string  `json:"state"` // charging, unplugged, full, unknown
	Low   bool    `json:"lowPowerModeEnabled"`
}
