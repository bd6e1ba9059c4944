package node

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// system reads /etc/os-release.
func system() (name, version string) {
	name = "Linux"
	f, err := os.Open("/etc/os-release")
	if err != nil {
		return name, ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		k, v, _ := strings.Cut(s.Text(), "=")
		v = strings.Trim(v, `"'`)
		switch k {
		case "NAME":
			name = v
		case "VERSION_ID":
			version = v
		}
	}
	return name, version
}

func disk(path string) (total, free uint64, ok bool) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil || st.Bsize <= 0 {
		return 0, 0, false
	}
	return st.Blocks * uint64(st.Bsize), st.Bavail * uint64(st.Bsize), true
}

func uptime() (float64, bool) {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(b), " ")
	s, err := strconv.ParseFloat(first, 64)
	return s, err == nil
}

func battery() (power, bool) {
	all, _ := filepath.Glob("/sys/class/power_supply/BAT*")
	for _, dir := range all {
		b, err := os.ReadFile(filepath.Join(dir, "capacity"))
		if err != nil {
			continue
		}
		percent, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
		if err != nil {
			continue
		}
		state := "unknown"
		if b, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
			state = map[string]string{"Charging": "charging", "Discharging": "unplugged", "Full": "full",
				"Not charging": "full"}[strings.TrimSpace(string(b))]
		}
		if state == "" {
			state = "unknown"
		}
		return power{Level: percent / 100, State: state}, true
	}
	return power{}, false
}
