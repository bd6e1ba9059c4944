package protocol

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxPromptFields are asked for of one prompt; what stands in braces beyond them stays.
const maxPromptFields = 20

// promptField is a field: words of one line in double braces, without braces of their own.
var promptField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{([^{}\n]{1,64})\}\}`) })

// PromptFields are the names in double braces of a text, each once, in their order.
func PromptFields(text string) []string {
	out := []string{}
	for _, m := range promptField().FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(m[1]); name != "" && !slices.Contains(out, name) && len(out) < maxPromptFields {
			out = append(out, name)
		}
	}
	return out
}

// Fill is the prompt with values in the place of its fields. What a person says there is
// text, whatever it looks like; a field without a value stays as it is.
func (p PromptTemplate) Fill(values map[string]string) string {
	return promptField().ReplaceAllStringFunc(p.Text, func(whole string) string {
		if v, ok := values[strings.TrimSpace(strings.Trim(whole, "{}"))]; ok {
			return v
		}
		return whole
	})
}
