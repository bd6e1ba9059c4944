package scripted

import (
	"fmt"
	"strings"
)

// Markdown is at least size bytes of text that holds headings, lists, tables,
// quotes and code, the same for the same size.
func Markdown(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Section %d\n\n"+
			"This paragraph has **bold**, *italic*, `code` and a [link](https://example.com/%d). It goes on for a while, as answers do, and "+
			"mentions Größe, 漢字 and 🏠.\n\n", i, i)
		fmt.Fprintf(&b, "1. First point of %d\n2. Second point\n   - nested one\n   - nested two\n3. Third point\n\n", i)
		fmt.Fprintf(&b, "| name | value | note |\n|---|---:|---|\n| alpha | %d | first |\n| beta | %d | second |\n\n", i, i*i)
		fmt.Fprintf(&b, "```go\nfunc section%d(n int) int {\n\tif n < %d {\n\t\treturn n // keep\n\t}\n\treturn section%d(n - 1)\n}\n```\n\n", i,
			i, i)
		b.WriteString("> A quote that says little.\n\n---\n\n")
	}
	return b.String()
}
