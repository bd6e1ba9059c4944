package safepath

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPath = 4096 // bytes
	maxName = 255  // bytes of one name
)

// ErrPath marks a path that is refused for how it is written.
var ErrPath = errors.New("this path cannot be used")

func badPath(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrPath, fmt.Sprintf(format, args...))
}

var (
	scheme  = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]+:[/\\]|file:|media:)`)
	drive   = regexp.MustCompile(`^[A-Za-z]:`)
	encoded = regexp.MustCompile(`(?i)%(2e|2f|5c|00|c0%?(af|ae))`)
	device  = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?$`)
	short   = regexp.MustCompile(`~[0-9]+(\.|$)`)
)

// parse reads a path once. What it returns is clean and slash-separated:
// relative to the workspace and inside of it, or absolute.
func parse(raw, home string) (p string, absolute bool, err error) {
	if err := checkText(raw); err != nil {
		return "", false, err
	}
	p = raw
	if runtime.GOOS == "windows" {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		if home == "" {
			return "", false, badPath("nobody's home folder is known here; write the whole path")
		}
		p = filepath.ToSlash(home) + p[1:]
	case strings.HasPrefix(p, "~"):
		return "", false, badPath("%q is another person's home folder; write the whole path", raw)
	}
	if err := checkForm(p, raw); err != nil {
		return "", false, err
	}
	absolute = isAbs(p)
	p = path.Clean(p)
	if !absolute && (p == ".." || strings.HasPrefix(p, "../")) {
		return "", false, badPath("%q leads out of the workspace; if that is meant, write the absolute path, and the owner is asked", raw)
	}
	for name := range strings.SplitSeq(p, "/") {
		if err := checkName(name); err != nil {
			return "", false, err
		}
	}
	return p, absolute, nil
}

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || runtime.GOOS == "windows" && drive.MatchString(p)
}

// checkText looks at the characters.
func checkText(raw string) error {
	switch {
	case strings.TrimSpace(raw) == "":
		return badPath("it is empty")
	case len(raw) > maxPath:
		return badPath("it has %d bytes, the most is %d", len(raw), maxPath)
	case !utf8.ValidString(raw) || strings.ContainsRune(raw, utf8.RuneError):
		return badPath("%q is not UTF-8", raw)
	}
	for _, r := range raw {
		if r == '\u200d' || r == '\u200c' { // joiners of emoji and of Persian words
			continue
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return badPath("%q holds the control or invisible character %U", raw, r)
		}
	}
	return nil
}

// checkForm refuses what is no plain path, or means something else elsewhere.
func checkForm(p, raw string) error {
	switch {
	case strings.HasPrefix(p, "//") || strings.HasPrefix(p, `\\`):
		return badPath("%q names a network or device path; only files of this machine can be used", raw)
	case strings.HasPrefix(p, "@/") || strings.HasPrefix(p, "@~"):
		return badPath("leave the @ of %q away", raw)
	case runtime.GOOS == "windows" && drive.MatchString(p):
		if len(p) < 3 || p[2] != '/' {
			return badPath("%q has a drive and no folder; write it as C:/folder/file", raw)
		}
		p = p[2:]
	case scheme.MatchString(p):
		return badPath("%q is an address; write a plain path", raw)
	case drive.MatchString(p) && len(p) > 2:
		return badPath("%q names a drive, and there are none on this system", raw)
	}
	switch {
	case strings.Contains(p, `\`):
		return badPath("%q holds a backslash; put / between folders", raw)
	case encoded.MatchString(p):
		return badPath("%q is percent-encoded; write the plain path", raw)
	case strings.Contains(strings.ToLower(p), "::$") || runtime.GOOS == "windows" && strings.Contains(p, ":"):
		return badPath("%q names a data stream of a file; write the file's own path", raw)
	}
	return nil
}

func checkName(name string) error {
	switch {
	case len(name) > maxName:
		return badPath("the name %.40q… has %d bytes, the most is %d", name, len(name), maxName)
	case name != "." && name != ".." && strings.TrimRight(name, ". ") != name:
		return badPath("the name %q ends with a dot or a space", name)
	case runtime.GOOS == "windows" && (device.MatchString(name) || short.MatchString(name)):
		return badPath("%q is a device or a short name of Windows", name)
	}
	return nil
}

// checkNew refuses names for new files that other systems cannot hold.
func checkNew(name string) error {
	if device.MatchString(name) {
		return badPath("a file called %q cannot be read on Windows; choose another name", name)
	}
	return nil
}
