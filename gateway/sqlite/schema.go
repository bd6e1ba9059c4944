package sqlite

import "strings"

// columns reads the names of a table's columns from the words that made it.
func (t *Table) columns(sql string) {
	t.byName = map[string]int{}
	words := tokens(sql)
	open := -1
	for i, w := range words {
		if w.text == "(" && !w.quoted {
			open = i
			break
		}
	}
	if open < 0 {
		return
	}
	place, types := 0, map[string]string{}
	for _, def := range definitions(words[open+1:]) {
		if len(def) == 0 {
			continue
		}
		first := strings.ToUpper(def[0].text)
		if !def[0].quoted && (first == "CONSTRAINT" || first == "PRIMARY" || first == "UNIQUE" || first == "CHECK" || first == "FOREIGN") {
			if key := soleKey(def); key != "" && types[key] == "INTEGER" {
				t.byName[key] = -1
			}
			continue
		}
		name := strings.ToLower(def[0].text)
		t.Columns = append(t.Columns, def[0].text)
		if computed(def) {
			continue // it is not kept in the row
		}
		if t.byName[name] = place; len(def) > 1 && !def[1].quoted {
			types[name] = strings.ToUpper(def[1].text)
		}
		place++
		if types[name] == "INTEGER" && has(def, "PRIMARY") && !has(def, "DESC") {
			t.byName[name] = -1
		}
	}
}

type word struct {
	text   string
	quoted bool
}

// definitions splits what stands in the brackets of CREATE TABLE at its commas.
func definitions(words []word) (out [][]word) {
	depth := 0
	var def []word
	for _, w := range words {
		switch {
		case w.quoted:
		case w.text == "(":
			depth++
		case w.text == ")":
			if depth--; depth < 0 {
				return append(out, def)
			}
		case w.text == "," && depth == 0:
			out, def = append(out, def), nil
			continue
		}
		if def = append(def, w); len(out) > maxColumns {
			return out
		}
	}
	return append(out, def)
}

// soleKey is the one column of PRIMARY KEY (column), folded.
func soleKey(def []word) string {
	for i, w := range def {
		if strings.EqualFold(w.text, "PRIMARY") && !w.quoted && i+4 < len(def) && def[i+2].text == "(" && def[i+4].text == ")" {
			return strings.ToLower(def[i+3].text)
		}
	}
	return ""
}

// computed reports whether a column is worked out whenever it is read.
func computed(def []word) bool {
	for i, w := range def {
		if !w.quoted && strings.EqualFold(w.text, "AS") && i+1 < len(def) && def[i+1].text == "(" {
			return !has(def, "STORED")
		}
	}
	return false
}

func has(def []word, name string) bool {
	for _, w := range def[1:] {
		if !w.quoted && strings.EqualFold(w.text, name) {
			return true
		}
	}
	return false
}

// tokens are the words, names and signs of SQL, without remarks.
func tokens(s string) (out []word) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c <= ' ':
			i++
		case strings.HasPrefix(s[i:], "--"):
			i = end(s, i, "\n", 1)
		case strings.HasPrefix(s[i:], "/*"):
			i = end(s, i+2, "*/", 2)
		case c == '\'', c == '"', c == '`', c == '[':
			text, n := quotedName(s[i:])
			out, i = append(out, word{text, true}), i+n
		case strings.IndexByte("(),;=<>+-*/|&~!?.:", c) >= 0:
			out, i = append(out, word{s[i : i+1], false}), i+1
		default:
			n := strings.IndexAny(s[i:], " \t\r\n\f\v(),;=<>+-*/|&~!?.:'\"`[")
			if n <= 0 {
				n = max(1, len(s)-i)
			}
			out, i = append(out, word{s[i:min(i+n, len(s))], false}), i+n
		}
	}
	return out
}

func end(s string, from int, mark string, length int) int {
	if from < len(s) {
		if n := strings.Index(s[from:], mark); n >= 0 {
			return from + n + length
		}
	}
	return len(s)
}

// quotedName reads a name or text in quotes, in which the quote is doubled.
func quotedName(s string) (text string, n int) {
	q := s[0]
	if q == '[' {
		q = ']'
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != q {
			b.WriteByte(s[i])
			continue
		}
		if i+1 >= len(s) || s[i+1] != q || q == ']' {
			return b.String(), i + 1
		}
		b.WriteByte(q)
		i++
	}
	return b.String(), len(s)
}
