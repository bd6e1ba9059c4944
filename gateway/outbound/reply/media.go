package reply

import (
	"net/url"
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// directive starts a line that names a file to send.
const directive = "MEDIA:"

// maxMedia bounds what one answer can name.
const maxMedia = 32

// Parse takes the MEDIA: lines out of a text. Lines inside code fences are
// text. A directive that names nothing stays where it is.
func Parse(text string) (rest string, media []channel.Media) {
	if !strings.Contains(text, directive) {
		return text, nil
	}
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		fence = fenceAfter(fence, bare)
		if fence == "" && len(media) < maxMedia {
			if m, ok := mediaLine(bare); ok {
				media = append(media, m)
				continue
			}
		}
		out.WriteString(line)
	}
	return out.String(), media
}

func fenceAfter(open, bare string) string {
	for _, mark := range []string{"```", "~~~"} {
		if !strings.HasPrefix(bare, mark) {
			continue
		}
		if open == "" {
			return bare[:len(bare)-len(strings.TrimLeft(bare, mark[:1]))]
		}
		if strings.HasPrefix(bare, open) && strings.Trim(bare, mark[:1]) == "" {
			return ""
		}
	}
	return open
}

func mediaLine(bare string) (channel.Media, bool) {
	target, ok := strings.CutPrefix(bare, directive)
	target = strings.Trim(strings.TrimSpace(target), "`<>\"")
	if !ok || target == "" || strings.ContainsAny(target, "\t") {
		return channel.Media{}, false
	}
	return channel.Media{URL: target, Name: nameOf(target)}, true
}

// nameOf is the file name that a target ends with.
func nameOf(target string) string {
	if u, err := url.Parse(target); err == nil && u.Scheme != "" && u.Host != "" {
		target = u.Path
	}
	name := path.Base(strings.ReplaceAll(target, "\\", "/"))
	if name == "." || name == "/" {
		return ""
	}
	return name
}
