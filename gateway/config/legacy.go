package config

import "context"

// Keys of older versions still work, and `hearth doctor --fix` gives them their
// new names.

// Legacy are the settings of the file that have old names, with the new ones.
func (s *Snapshot) Legacy() (renames []string) {
	if s.doc == nil {
		return nil
	}
	for _, r := range s.known.renames(s.doc) {
		renames = append(renames, r.Says)
	}
	return renames
}

// Modernize writes settings with old names under their new ones and leaves the
// rest of the file as it is.
func (f *File) Modernize(ctx context.Context) (*Snapshot, error) {
	return f.modify(ctx, nil, func(c content) (string, error) {
		return f.splice(c, func(doc *document) (ops []op, err error) {
			for _, r := range f.opts.Sections.known().renames(doc) {
				ops = append(ops, r.ops()...)
			}
			return ops, nil
		})
	})
}

// word is a value of this file's own making.
func word(text string) *node {
	doc, err := parse(text)
	if err != nil {
		panic("config: " + err.Error())
	}
	return doc.root
}
