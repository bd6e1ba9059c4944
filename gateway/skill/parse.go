package skill

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Parse reads a SKILL.md. Errors are ErrInvalid.
func Parse(data []byte) (Spec, error) {
	front, _, err := split(data, FileName)
	if err != nil {
		return Spec{}, err
	}
	t, err := readTree(front)
	if err != nil {
		return Spec{}, err
	}
	return specOf(t)
}

// split takes a SKILL.md apart: what stands between the two lines of dashes,
// and the text after them.
func split(data []byte, name string) (front, body []byte, err error) {
	switch {
	case len(data) > maxFile:
		return nil, nil, invalid("%s is larger than %d KiB", name, maxFile>>10)
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return nil, nil, invalid("%s is written in UTF-16; save it as UTF-8", name)
	case bytes.IndexByte(data, 0) >= 0:
		return nil, nil, invalid("%s is a binary file", name)
	case !utf8.Valid(data):
		return nil, nil, invalid("%s is not UTF-8; save it as UTF-8", name)
	}
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return nil, nil, invalid("it does not begin with a line of three dashes and its name and description")
	}
	for at := 0; at < len(rest); {
		end := bytes.IndexByte(rest[at:], '\n')
		line := rest[at:]
		if end >= 0 {
			line = rest[at : at+end]
		}
		if string(bytes.TrimRight(line, " \t")) == "---" {
			if at > maxFront {
				return nil, nil, invalid("what stands between the lines of dashes is longer than %d KiB", maxFront>>10)
			}
			after := rest[at+len(line):]
			return rest[:at], bytes.TrimPrefix(after, []byte("\n")), nil
		}
		if end < 0 {
			break
		}
		at += end + 1
	}
	return nil, nil, invalid("the second line of three dashes is missing")
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// metaKeys are the names under which other gateways and we find our part of
// the metadata, ours first.
var metaKeys = []string{"hearth", "openclaw", "milaidy", "clawdbot", "moltbot"}

func specOf(t tree) (Spec, error) {
	s := Spec{
		Name: clean(t.text("name"), maxName+1), Description: clean(t.text("description"), maxDescription),
		Homepage:      webAddress(t.text("homepage")),
		UserInvocable: t.flag("user-invocable", true), ModelInvocable: !t.flag("disable-model-invocation", false),
		DispatchTool: clean(t.text("command-tool"), maxName), ArgMode: clean(t.text("command-arg-mode"), maxName),
	}
	if err := checkName(s.Name); err != nil {
		return s, err
	}
	if s.Description == "" {
		return s, invalid("it has no description")
	}
	if t.text("command-dispatch") == "tool" && s.DispatchTool != "" {
		s.Dispatch = "tool"
	}
	if s.ArgMode == "" {
		s.ArgMode = "raw"
	}
	s.Key = s.Name
	s.Version = clean(t.text("version"), 40)
	meta, err := t.metadata()
	if err != nil {
		return s, err
	}
	s.addMeta(meta)
	return s, nil
}

// addMeta takes what the metadata says.
func (s *Spec) addMeta(m tree) {
	s.Emoji, s.Always = clean(m.text("emoji"), 8), m.flag("always", false)
	if h := webAddress(m.text("homepage")); h != "" && s.Homepage == "" {
		s.Homepage = h
	}
	if k := clean(m.text("skillKey"), maxName); k != "" && checkName(k) == nil {
		s.Key = k
	}
	if v := clean(m.text("version"), 40); v != "" {
		s.Version = v
	}
	if v := m.text("primaryEnv"); envName(v) {
		s.PrimaryEnv = v
	}
	req := m.sub("requires")
	s.Requires = Requires{
		Bins: only(req.list("bins"), binName), AnyBins: only(req.list("anyBins"), binName), Env: only(req.list("env"), envName),
		Config: only(req.list("config"), configPath), OS: systems(m.list("os")),
	}
	for _, i := range m.each("install") {
		in := Installer{
			ID: clean(i.text("id"), maxName), Kind: clean(i.text("kind"), 16), Label: clean(i.text("label"), 200),
			Formula: clean(i.text("formula"), 200),
			Package: clean(i.text("package"), 200), Module: clean(i.text("module"), 200), URL: webAddress(i.text("url")),
			Archive: clean(i.text("archive"), 16), TargetDir: clean(i.text("targetDir"), 200), Bins: only(i.list("bins"), binName),
			OS: systems(i.list("os")),
		}
		if in.ID == "" {
			in.ID = in.Kind
		}
		s.Install = append(s.Install, in)
	}
}

// checkName: a name becomes a folder, a command and a key of the settings, so
// it is a plain word (A-SKILL-04).
func checkName(name string) error {
	if name == "" {
		return invalid("it has no name")
	}
	if utf8.RuneCountInString(name) > maxName {
		return invalid("its name is longer than %d characters", maxName)
	}
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || !strings.ContainsRune("-_. ", r)) {
			return invalid("its name %q may hold letters, digits, - and _ only, and begins with a letter or digit", name)
		}
	}
	if strings.Contains(name, "..") || strings.HasSuffix(name, ".") || reserved(name) {
		return invalid("its name %q cannot be the name of a folder", name)
	}
	return nil
}

// reserved are the names of devices on Windows.
func reserved(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(name)), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}

// folded is a name as a file system without case and with odd normal forms may
// see it: two skills of one folded name are one too many.
func folded(name string) string {
	name = strings.ToLower(norm.NFKC.String(name))
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	return strings.TrimRight(name, ". ")
}

// clean makes words of a skill safe on one line of anything (A-SKILL-12):
// control, direction and invisible characters are taken out, white space is one
// blank, and it is cut after n runes.
func clean(s string, n int) string {
	var b strings.Builder
	blank, count := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case r == 0x200d || r == 0xfe0f: // parts of emoji
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == utf8.RuneError:
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
			count++
		}
		if count >= n {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// webAddress is s when it is an ordinary address of the web.
func webAddress(s string) string {
	s = clean(s, 500)
	if (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) && !strings.ContainsAny(s, " \"'<>`\\") {
		return s
	}
	return ""
}

func only(in []string, ok func(string) bool) (out []string) {
	for _, s := range in {
		if ok(s) {
			out = append(out, s)
		} else {
			out = append(out, "?"+clean(s, maxName)) // never there: what cannot be judged is missing
		}
	}
	return out
}

func binName(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return r > 0x7e || r <= ' ' || strings.ContainsRune(`/\:*?"'<>|$&;`+"`", r)
	})
}

func envName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

func configPath(s string) bool {
	return s != "" && len(s) <= 200 && clean(s, 200) == s
}

// systems are names of operating systems as metadata writes them.
func systems(in []string) (out []string) {
	for _, s := range in {
		switch s = strings.ToLower(clean(s, 16)); s {
		case "windows":
			s = "win32"
		case "macos":
			s = "darwin"
		}
		out = append(out, s)
	}
	return out
}
