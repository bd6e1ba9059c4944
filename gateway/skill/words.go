package skill

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is something that a skill seldom needs and malicious ones often have
// (A-SKILL-01).
type pattern struct {
	re  *regexp.Regexp
	why string
}

// patterns are compiled when they are needed, which is seldom.
func patterns() []pattern {
	return []pattern{
		{regexp.MustCompile(`(?i)(curl|wget|fetch|iwr|invoke-webrequest|irm)\b[^\n]{0,300}\|\s*(sudo\s+)?(/\S*/)?(ba|z|da|k|fi)?sh\b`),
			"it downloads something and runs it at once"},
		{regexp.MustCompile(`(?i)(ba|z|da)?sh\s+(-c\s+)?["']?(<\(|\$\(|` + "`" + `)\s*(curl|wget)`),
			"it downloads something and runs it at once"},
		{regexp.MustCompile(`(?i)(curl|wget)\b[^\n]{0,300}(&&|;)\s*(sudo\s+)?(chmod|(ba|z)?sh|python[0-9.]*|node|perl|ruby|open|\./)`),
			"it downloads something and runs it"},
		{regexp.MustCompile(`(?i)(python[0-9.]*|node|perl|ruby|osascript)\s+-[ce]\s[^\n]{0,200}(https?://|urlopen|requests\.get|fetch\()`),
			"it downloads something and runs it"},
		{regexp.MustCompile(`(?i)base64\s+(-d|-D|--decode)[^\n]{0,80}\|`), "it runs something that is hidden in base64"},
		{regexp.MustCompile(`(?i)\|\s*base64\s+(-d|-D|--decode)`), "it unpacks something that is hidden in base64"},
		{regexp.MustCompile(`(?i)(powershell|pwsh)[^\n]{0,80}-(e|ec|enc|encodedcommand)\b`), "it runs something that is hidden in base64"},
		{regexp.MustCompile(`(?i)\b(iex|invoke-expression)\b|downloadstring|start-bitstransfer|certutil\s+-urlcache` +
			`|mshta\b|regsvr32\b|rundll32\b`),
			"it downloads something and runs it, as malware for Windows does"},
		{regexp.MustCompile(`(?i)xattr\s+(-\w+\s+)*(-d|-c|-cr|-rd)|com\.apple\.quarantine|spctl\s+--(master|global)-disable`),
			"it switches off the system's check of downloads"},
		{regexp.MustCompile(`(?i)(zip|archive|extract|7z|unzip|rar)[^\n]{0,80}(pass(word|code)?\s*[:=]|-p\s?['"\w])`),
			"it wants an archive with a password unpacked, which hides it from scanners"},
		{regexp.MustCompile(`(?i)https?://(\d{1,3}\.){3}\d{1,3}`), "it names a server by number instead of by name"},
		{regexp.MustCompile(`(?i)(glot\.io|pastebin\.com|rentry\.(co|org)|hastebin|paste\.ee|transfer\.sh|file\.io|anonfiles|bit\.ly|tinyurl\.com|is\.gd|cutt\.ly|t\.ly/|raw\.githubusercontent\.com/[^\s]{0,200}\.(sh|ps1|py|exe)|discord(app)?\.com/api/webhooks|webhook\.site|requestbin|pipedream\.net|ngrok|trycloudflare|api\.telegram\.org/bot)`), "it uses an address where malware is often kept or stolen data is sent"},
		{regexp.MustCompile(`(?i)/dev/tcp/|\bnc\s+(-\w+\s+)*-e\b|\bsocat\b[^\n]{0,80}exec|mkfifo[^\n]{0,80}\bnc\b`),
			"it opens a way in from outside"},
		{regexp.MustCompile(`(?i)(~|\$HOME|/home/\w+|/Users/\w+)?/?\.(ssh/(id_|\*|authorized)|aws/credentials|netrc|gnupg|kube/config|docker/config|git-credentials|npmrc|pypirc)`), "it names files that hold keys or passwords"},
		{regexp.MustCompile(`(?i)login\.keychain|security\s+(find|dump)-(generic|internet|keychain)|wallet\.dat|metamask|exodus|electrum|keystore/UTC|Login Data|cookies\.sqlite|seed phrase|private key of (your|the) wallet`), "it is after passwords or wallets"},
		{regexp.MustCompile(`(?i)(ignore|disregard|forget)\s+(all\s+|any\s+)?(of\s+)?(your\s+|the\s+)?(previous|prior|above|earlier|system)\s+(instructions?|prompts?|rules?)`), "it tells the assistant to ignore what it was told"},
		{regexp.MustCompile(`(?i)(do not|don't|never|without)\s+(tell|ask(ing)?|mention|inform(ing)?|show(ing)?|notify(ing)?|alert(ing)?)\s+(this\s+to\s+|it\s+to\s+)?(the\s+)?(user|owner|person|human|them)`), "it tells the assistant to hide something from you"},
		{regexp.MustCompile(`(?i)(append|write|add|insert|echo|copy|save|put)[^\n]{0,120}(SOUL|MEMORY|AGENTS|IDENTITY|HEARTBEAT|USER|TOOLS)\.md`),
			"it changes what the assistant remembers or is told"},
		{regexp.MustCompile(`(?i)(crontab\s+-|launchctl\s+(load|bootstrap)|systemctl\s+(--user\s+)?enable|LaunchAgents|schtasks\s+/create|\.bashrc|\.zshrc|authorized_keys)`), "it makes something start by itself"},
		{regexp.MustCompile(`(?i)(--yolo|--dangerously|approval(s)?\s*[:=]\s*(off|never)|exec\.ask|elevated\s*[:=]|disable\s+(the\s+)?(approvals?|sandbox|antivirus|defender|gatekeeper))`), "it wants protection switched off"},
		{regexp.MustCompile(`(?i)\bsudo\s+\S|\brm\s+-rf?\s+(~|/|\$HOME)`), "it wants to act as administrator, or deletes whole folders"},
		{regexp.MustCompile(`(?i)(npm|pnpm|yarn|bun|pip[0-9]?|pipx|uv|gem|cargo|brew)\s+(i|install|add|tool install|tap)\s+(-g\s+|--global\s+)?(https?://|git\+|[\w.-]+/[\w.-]+/[\w.-]+)`), "it installs a program from an address instead of a registry"},
		{regexp.MustCompile(`(?i)(prerequisite|required|must|before (you )?(start|use|using|proceed))[^\n]{0,200}(download|install|run)[^\n]{0,200}(https?://|\.exe\b|\.dmg\b|\.pkg\b|\.zip\b|\.msi\b|terminal)`), "it wants you to download or run something before it works"},
		{regexp.MustCompile(`[A-Za-z0-9+/]{400,}={0,2}`), "it holds a long block of encoded data"},
	}
}

const maxFindings = 30

// Findings tells what in the files a person should look at before they trust
// them. It finds what is common, and proves nothing about the rest.
func Findings(files Files) []string {
	var out []string
	known := patterns()
	add := func(format string, args ...any) {
		if len(out) < maxFindings {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	for _, f := range files {
		name := clean(f.Path, 120)
		if kind := program(f.Data); kind != "" {
			add("%s is a program, %s, that nobody can read", name, kind)
			continue
		}
		if bytes.IndexByte(f.Data, 0) >= 0 || !utf8.Valid(f.Data) {
			continue
		}
		text := string(f.Data)
		if line := hiddenLine(text); line > 0 {
			add("%s, line %d: it holds characters that cannot be seen", name, line)
		}
		for _, p := range known {
			if at := p.re.FindStringIndex(text); at != nil {
				add("%s, line %d: %s: %s", name, 1+strings.Count(text[:at[0]], "\n"), p.why, clean(text[at[0]:at[1]], 100))
			}
		}
		if f.Executable || strings.HasPrefix(text, "#!") {
			add("%s is a script", name)
		}
	}
	return out
}

func program(data []byte) string {
	for _, m := range []struct{ magic, kind string }{
		{"\x7fELF", "for Linux"}, {"MZ", "for Windows"}, {"\xcf\xfa\xed\xfe", "for macOS"}, {"\xce\xfa\xed\xfe", "for macOS"},
		{"\xca\xfe\xba\xbe", "for macOS or Java"}, {"PK\x03\x04", "or an archive"}, {"\x1f\x8b", "or an archive"}, {"\x00asm", "for WebAssembly"},
	} {
		if strings.HasPrefix(string(data), m.magic) && (m.magic != "MZ" || bytes.IndexByte(data, 0) >= 0) {
			return m.kind
		}
	}
	return ""
}

// hiddenLine is the first line with characters that are not seen, 0 for none.
func hiddenLine(text string) int {
	line := 1
	for _, r := range text {
		switch {
		case r == '\n':
			line++
		case r == '\t', r == '\r', r == 0x200d, r == 0xfe0f, r == 0xfeff && line == 1:
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r >= 0xe0000 && r <= 0xe0fff:
			return line
		}
	}
	return 0
}

const maxDiffLines = 1500

// diff shows what is different in a text, with lines of before and after.
func diff(name string, before, after []byte) string {
	head := "--- " + clean(name, 200) + "\n"
	if bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 || !utf8.Valid(before) || !utf8.Valid(after) {
		return head + "(a binary file has another content)\n"
	}
	a, b := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	if len(before) == 0 {
		a = nil
	}
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return head + fmt.Sprintf("(%d lines became %d; too many to show)\n", len(a), len(b))
	}
	// longest common subsequence, from the end
	n := make([][]uint16, len(a)+1)
	for i := range n {
		n[i] = make([]uint16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var out strings.Builder
	out.WriteString(head)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || n[i+1][j] >= n[i][j+1]):
			out.WriteString("-" + strconv.Itoa(i+1) + ": " + shown(a[i]) + "\n")
			i++
		default:
			out.WriteString("+" + strconv.Itoa(j+1) + ": " + shown(b[j]) + "\n")
			j++
		}
	}
	return out.String()
}

// shown is a line with everything in it visible.
func shown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		if b.Len() > 2000 {
			b.WriteString(" …")
			break
		}
	}
	return b.String()
}

// compareVersions compares numbers between dots; words after a dash make a
// version older than the same without.
func compareVersions(a, b string) int {
	an, ap, _ := strings.Cut(strings.TrimPrefix(a, "v"), "-")
	bn, bp, _ := strings.Cut(strings.TrimPrefix(b, "v"), "-")
	as, bs := strings.Split(an, "."), strings.Split(bn, ".")
	for i := range max(len(as), len(bs)) {
		var x, y int
		if i < len(as) {
			x, _ = strconv.Atoi(as[i])
		}
		if i < len(bs) {
			y, _ = strconv.Atoi(bs[i])
		}
		if x != y {
			return x - y
		}
	}
	switch {
	case ap == bp:
		return 0
	case ap == "":
		return 1
	case bp == "":
		return -1
	}
	return strings.Compare(ap, bp)
}
