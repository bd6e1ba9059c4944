//go:build !linux

package node

import "runtime"

func system() (name, version string) {
	switch runtime.GOOS {
	case "darwin":
		return "macOS", ""
	case "windows":
		return "Windows", ""
	}
	return runtime.GOOS, ""
}

func disk(string) (total, free uint64, ok bool) { return 0, 0, false }
func uptime() (float64, bool)                   { return 0, false }
func battery() (power, bool)                    { return power{}, false }
