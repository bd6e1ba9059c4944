package config

import (
	"context"
	"fmt"
)

// Keys of older versions still work, and `hearth doctor --fix` gives them their
// new names.

// Legacy are the settings of the file that have old names, with the new ones.
func (s *Snapshot) Legacy() (renames []string) {
	if s.doc == nil {
		return nil
	}
	for _, r := range legacy(s.doc) {
		renames = append(renames, r.says)
	}
	return renames
}

// Modernize writes settings with old names under their new ones and leaves the
// rest of the file as it is.
func (f *File) Modernize(ctx context.Context) (*Snapshot, error) {
	return f.modify(ctx, func(c content) (string, error) {
		return f.splice(c, func(doc *document) (ops []op, err error) {
			for _, r := range legacy(doc) {
				ops = append(ops, r.ops...)
			}
			return ops, nil
		})
	})
}

type rename struct {
	says string
	ops  []op
}

func legacy(doc *document) (out []rename) {
	for _, network := range membersOf(doc, Path{Key("channels")}) {
		out = append(out, legacyStreaming(doc, network)...)
		for _, account := range membersOf(doc, append(network[:2:2], Key("accounts"))) {
			out = append(out, legacyStreaming(doc, account)...)
		}
	}
	return append(out, legacyIdle(doc)...)
}

// membersOf are the paths of what an object holds.
func membersOf(doc *document, at Path) (out []Path) {
	n, ok := doc.find(at)
	if !ok || n.kind != kindObject {
		return nil
	}
	for _, it := range n.items {
		out = append(out, append(at[:len(at):len(at)], Key(it.key)))
	}
	return out
}

// legacyStreaming: streamMode, and streaming as a word or a yes or no, are
// streaming.mode.
func legacyStreaming(doc *document, at Path) (out []rename) {
	old, mode := append(at[:len(at):len(at)], Key("streamMode")), append(at[:len(at):len(at)], Key("streaming"), Key("mode"))
	whole := mode[: len(mode)-1 : len(mode)-1]
	d := &decoder{doc: doc}
	streaming, set := doc.find(whole)
	if set && streaming.kind != kindObject {
		v := d.streamMode(streaming)
		if len(d.issues) > 0 {
			return nil // it is told of as a mistake
		}
		out = append(out, rename{fmt.Sprintf("%s: %q is %s", whole, v, mode), []op{{whole, word("{ mode: " + quoted(v) + " }")}}})
	}
	n, ok := doc.find(old)
	if !ok {
		return out
	}
	v := d.streamMode(n)
	if len(d.issues) > 0 {
		return out
	}
	r := rename{fmt.Sprintf("%s is %s", old, mode), []op{{old, nil}}}
	if _, has := doc.find(mode); !has && (!set || streaming.kind == kindObject) {
		r.ops = append(r.ops, op{mode, word(quoted(v))})
	}
	return append(out, r)
}

// legacyIdle: session.idleMinutes alone is a session.reset by idling.
func legacyIdle(doc *document) []rename {
	old, reset := Path{Key("session"), Key("idleMinutes")}, Path{Key("session"), Key("reset")}
	n, ok := doc.find(old)
	if _, has := doc.find(reset); !ok || has || n.kind != kindNumber {
		return nil
	}
	return []rename{{"session.idleMinutes is session.reset", []op{{old, nil}, {reset, word(`{ mode: "idle", idleMinutes: ` + n.text + ` }`)}}}}
}

func quoted(s string) string { return string(appendString(nil, s)) }

// word is a value of this file's own making.
func word(text string) *node {
	doc, err := parse(text)
	if err != nil {
		panic("config: " + err.Error())
	}
	return doc.root
}
