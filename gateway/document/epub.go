package document

import (
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/internal/charset"
)

// readEPUB reads the chapters of a book in their order.
func readEPUB(t *taker, p *pack) error {
	t.d.Kind, t.d.Unit = Book, unitChapter
	if p.find("META-INF/rights.xml") != nil || p.find("META-INF/encryption.xml") != nil && p.find("META-INF/sinf.xml") != nil {
		return problem(Encrypted, "rights management")
	}
	root := ""
	if err := (walk{begin: func(n string, attr func(string) string) {
		if n == "rootfile" && root == "" {
			root = attr("full-path")
		}
	}}).read(p, "META-INF/container.xml"); err != nil {
		return err
	}
	items := map[string]string{}
	var spine []string
	title, inTitle := "", false
	err := walk{
		begin: func(n string, attr func(string) string) {
			switch {
			case n == "item" && len(items) < maxParts:
				items[attr("id")] = within("/" + path.Join(path.Dir(root), attr("href")))
			case n == "itemref" && len(spine) < maxParts:
				spine = append(spine, items[attr("idref")])
			case n == "title":
				inTitle = true
			}
		},
		end: func(n string) { inTitle = inTitle && n != "title" },
		words: func(s string) {
			if inTitle {
				title += s
			}
		},
	}.read(p, root)
	if err != nil {
		return err
	}
	if title = oneLine(title, 120); title != "" {
		t.d.Notes = append(t.d.Notes, "title: "+title)
	}
	t.d.Total = len(spine)
	for _, name := range spine {
		b, err := p.all(name, maxMember)
		if err != nil {
			return err
		}
		text, _, _ := charset.Decode(b)
		heading, body := fromHTML(text)
		if strings.EqualFold(strings.TrimSpace(heading), title) {
			heading = ""
		}
		if !t.part(heading, body) {
			break
		}
	}
	return nil
}
