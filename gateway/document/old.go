package document

import (
	"bytes"
	"strings"
)

// readOld names the formats of Office before 2007, which nothing here reads, and
// newer ones behind a password, which look the same.
func readOld(t *taker, ext string, data []byte) error {
	t.d.Kind = map[string]string{".xls": Sheet, ".ppt": Slides, ".doc": Word, ".docx": Word, ".xlsx": Sheet, ".pptx": Slides}[ext]
	if t.d.Kind == "" {
		t.d.Kind = Unknown
	}
	if bytes.Contains(data, wide("EncryptedPackage")) {
		return problem(Encrypted, "")
	}
	return problem(Foreign, "an Office file of before 2007, %s", strings.TrimPrefix(ext, "."))
}

// wide is text as such files write names.
func wide(s string) []byte {
	out := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		out = append(out, s[i], 0)
	}
	return out
}
