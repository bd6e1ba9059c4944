package plan

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal is the text that a word stands for in every shell, if it is text only.
// Otherwise why says what else is in it.
func literal(word *syntax.Word) (text string, why *Doubt) {
	if len(word.Parts) == 1 {
		if lit, ok := word.Parts[0].(*syntax.Lit); ok && simple(lit.Value) {
			return lit.Value, nil // nearly always
		}
	}
	var b strings.Builder
	for _, part := range word.Parts {
		if d := literalPart(&b, part, len(word.Parts) == 1); d != nil {
			return "", d
		}
	}
	return b.String(), nil
}

func literalPart(b *strings.Builder, part syntax.WordPart, alone bool) *Doubt {
	switch part := part.(type) {
	case *syntax.Lit:
		return unquoted(b, part.Value, alone)
	case *syntax.SglQuoted:
		if part.Dollar {
			return &Doubt{"quoting", "uses $'…', which shells read differently"}
		}
		b.WriteString(part.Value)
	case *syntax.DblQuoted:
		if part.Dollar {
			return &Doubt{"quoting", `uses $"…", which shells read differently`}
		}
		for _, inner := range part.Parts {
			lit, ok := inner.(*syntax.Lit)
			if !ok {
				return substitution(inner)
			}
			if d := doubleQuoted(b, lit.Value); d != nil {
				return d
			}
		}
	default:
		return substitution(part)
	}
	return nil
}

func substitution(part syntax.WordPart) *Doubt {
	switch part.(type) {
	case *syntax.CmdSubst:
		return &Doubt{"substitution", "uses $(…) or `…`, so a part of it is decided only when it runs"}
	case *syntax.ProcSubst:
		return &Doubt{"substitution", "uses <(…) or >(…), which runs more commands"}
	case *syntax.ParamExp:
		return &Doubt{"expansion", "uses a variable, so a part of it is decided only when it runs"}
	case *syntax.ArithmExp:
		return &Doubt{"expansion", "computes a part of itself when it runs"}
	case *syntax.ExtGlob:
		return &Doubt{"pattern", "uses a file pattern, so its arguments are decided only when it runs"}
	}
	return &Doubt{"unreadable", "holds something that Hearth cannot read for certain"}
}

// simple: every shell reads these unquoted bytes as themselves.
func simple(s string) bool {
	for _, c := range []byte(s) {
		if !plainByte(c) {
			return false
		}
	}
	return s != ""
}

func plainByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return strings.IndexByte("_./:@%+,=-", c) >= 0
}

// unquoted decodes text outside quotes: plain bytes and escaped ones.
func unquoted(b *strings.Builder, s string, alone bool) *Doubt {
	if alone && (s == "[" || s == "]" || s == "{}" || s == "!" || s == "!=") {
		b.WriteString(s)
		return nil
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) && s[i+1] > ' ' && s[i+1] < 0x7f || c == '\\' && i+1 < len(s) && s[i+1] == ' ' {
			i++
			b.WriteByte(s[i])
			continue
		}
		if !plainByte(c) {
			return oddByte(c)
		}
		b.WriteByte(c)
	}
	return nil
}

func oddByte(c byte) *Doubt {
	switch c {
	case '*', '?', '[', ']':
		return &Doubt{"pattern", "uses a file pattern, so its arguments are decided only when it runs"}
	case '~':
		return &Doubt{"expansion", "uses ~, which stands for another folder when it runs"}
	case '{', '}':
		return &Doubt{"pattern", "uses {…}, which shells read differently"}
	case '$':
		return &Doubt{"expansion", "uses $, which shells read differently here"}
	}
	if c >= 0x80 {
		return &Doubt{"characters", "has unusual characters outside quotes"}
	}
	return &Doubt{"characters", "has a character outside quotes that shells read differently: " + Show(string(rune(c)))}
}

// doubleQuoted decodes text inside "…".
func doubleQuoted(b *strings.Builder, s string) *Doubt {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i++
		case c == '$' || c == '`':
			return oddByte('$')
		default:
			b.WriteByte(c)
		}
	}
	return nil
}

// continues: the line ends in a backslash that joins it to the next in a way that
// not all shells agree on. Between words they all do.
func continues(line string) bool {
	n := len(line) - len(strings.TrimRight(line, "\\"))
	if n%2 == 0 {
		return false // none, or each of them escapes the other
	}
	before := line[:len(line)-n]
	return n > 1 || !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\t") || strings.HasSuffix(before, "\\ ") ||
		strings.HasSuffix(before, "\\\t")
}

// odd looks at the bytes of a whole text for what parsers and shells are known
// to read differently.
func (w *walker) odd(text string) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n' && continues(text[:i]):
			w.doubt("continuation", "continues a line in the middle of a word")
		case c == '\n' || c == '\t':
		case c < ' ' || c == 0x7f:
			w.doubt("characters", "holds a control character: "+Show(string(rune(c))))
			return
		}
	}
	if hidden(text) {
		w.doubt("characters", "holds invisible or misleading characters")
	}
}
