package untrusted

import "strings"

// Unwrap takes the marks of Wrap off, for programs that work with the text
// rather than read it, and says what the marked parts came from. Whoever shows
// any of it to a model has to wrap it again.
func Unwrap(text string) (bare string, sources []string) {
	const begin, end = "<<<" + name + " id=\"", "<<<END_" + name + " id=\""
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(text, begin)
		id, inside, named := strings.Cut(rest, "\">>>\n")
		body, tail, closed := strings.Cut(inside, "\n"+end+id+"\">>>")
		if !ok || !named || !closed {
			if len(sources) == 0 {
				return text, nil
			}
			b.WriteString(text)
			return strings.TrimSpace(b.String()), sources
		}
		b.WriteString(strings.TrimSuffix(head, notice+"\n"))
		source := ""
		if line, after, ok := strings.Cut(body, "\n---\n"); ok && strings.HasPrefix(line, "Source: ") && !strings.Contains(line, "\n") {
			source, body = strings.TrimPrefix(line, "Source: "), after
		}
		sources = append(sources, source)
		b.WriteString(body)
		text = tail
	}
}
