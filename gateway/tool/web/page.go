package web

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/hearth-assistant/hearth/gateway/egress"
)

const (
	// maxElements bounds the work on one page.
	maxElements = 100_000
	// minArticle is how much text a page's main part has at least; with less it
	// is not an article, and the whole page is shown.
	minArticle = 200
)

// page is the readable part of a web page.
func page(p egress.Page, mode string) (title, text string, err error) {
	doc, err := html.Parse(strings.NewReader(decoded(p)))
	if err != nil {
		return "", "", fmt.Errorf("the page is not HTML that can be read: %w", err)
	}
	title = strings.Join(strings.Fields(harmless(textOf(find(doc, atom.Title)))), " ")
	if n := dropHidden(doc); n > maxElements {
		return title, "", fmt.Errorf("the page has more than %d elements, which is not for reading", maxElements)
	}
	tame(doc)
	content := find(doc, atom.Body)
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	if a, err := parser.ParseDocument(doc, p.URL); err == nil && a.Node != nil && len(strings.TrimSpace(textOf(a.Node))) >= minArticle {
		content = a.Node
		if t := strings.TrimSpace(harmless(a.Title())); t != "" {
			title = t
		}
	}
	if content == nil {
		return title, "", nil
	}
	if mode == "text" {
		return title, tidy(harmless(textOf(content))), nil
	}
	md, err := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin())).
		ConvertNode(content, converter.WithDomain(baseOf(p)))
	if err != nil {
		return title, tidy(harmless(textOf(content))), nil
	}
	return title, tidy(harmless(string(md))), nil
}

func baseOf(p egress.Page) string { return p.URL.Scheme + "://" + p.URL.Host }

// never are elements whose text nobody reads.
var never = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true,
	atom.Object: true, atom.Embed: true, atom.Svg: true, atom.Math: true, atom.Canvas: true, atom.Input: true, atom.Select: true,
	atom.Textarea: true, atom.Button: true}

// hiddenStyle tells inline styles that keep an element from being seen: where
// instructions for models are hidden from people (A-SSRF-10).
var hiddenStyle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)(display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0*(\.0+)?\s*(;|$|!)|font-size\s*:\s*0*(\.\d+)?(px|pt|em|rem|%)?\s*(;|$|!)|(left|top|text-indent|margin-left)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(50|100)%|(max-)?(height|width)\s*:\s*0(px)?\s*(;|$|!)|transform\s*:\s*scale\(\s*0\s*\)|color\s*:\s*(transparent|rgba\([^)]*,\s*0\s*\)))`)
})

// whiteText on an element that names no background is taken for hidden too.
var whiteText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|;)\s*color\s*:\s*(white|#fff(fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))\s*(;|$|!)`)
})

func hidden(n *html.Node) bool {
	if never[n.DataAtom] {
		return true
	}
	for _, a := range n.Attr {
		switch strings.ToLower(a.Key) {
		case "hidden":
			return true
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				return true
			}
		case "style":
			if hiddenStyle().MatchString(a.Val) || whiteText().MatchString(a.Val) && !strings.Contains(strings.ToLower(a.Val), "background") {
				return true
			}
		}
	}
	return false
}

// dropHidden takes comments and what nobody sees out of a page, and returns how
// many elements are left. It does not recurse: pages may nest as deep as the
// parser lets them.
func dropHidden(root *html.Node) (elements int) {
	for n := root.FirstChild; n != nil; {
		next := following(n, root, false)
		switch {
		case n.Type == html.CommentNode, n.Type == html.ElementNode && hidden(n):
			next = following(n, root, true)
			n.Parent.RemoveChild(n)
		case n.Type == html.ElementNode:
			elements++
		}
		n = next
	}
	return elements
}

// following is the next node in the order of the document, past n's children if
// they are to be skipped.
func following(n, root *html.Node, skip bool) *html.Node {
	if !skip && n.FirstChild != nil {
		return n.FirstChild
	}
	for ; n != nil && n != root; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

func find(root *html.Node, a atom.Atom) *html.Node {
	for n := root; n != nil; n = following(n, root, false) {
		if n.Type == html.ElementNode && n.DataAtom == a {
			return n
		}
	}
	return nil
}

// blocks begin a new line.
var blocks = map[atom.Atom]bool{atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true, atom.Tr: true, atom.H1: true, atom.H2: true,
	atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Section: true, atom.Article: true, atom.Blockquote: true, atom.Pre: true,
	atom.Ul: true, atom.Ol: true, atom.Table: true, atom.Header: true, atom.Footer: true, atom.Main: true, atom.Nav: true}

// textOf is the text of a node, blocks on lines of their own.
func textOf(root *html.Node) string {
	if root == nil {
		return ""
	}
	var b strings.Builder
	for n := root; n != nil; n = following(n, root, false) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && blocks[n.DataAtom]:
			b.WriteByte('\n')
		case n.Type == html.ElementNode && (n.DataAtom == atom.Td || n.DataAtom == atom.Th):
			b.WriteByte('\t')
		}
	}
	return b.String()
}

var (
	manySpaces = regexp.MustCompile(`[ \t]+\n`)
	manyLines  = regexp.MustCompile(`\n{3,}`)
)

// tidy takes out empty space that only costs tokens.
func tidy(s string) string {
	s = manySpaces.ReplaceAllString(s, "\n")
	return strings.TrimSpace(manyLines.ReplaceAllString(s, "\n\n"))
}
