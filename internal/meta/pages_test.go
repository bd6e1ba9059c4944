package meta

import (
	"cmp"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const checkout = "../.."

// pages are the Markdown files that people read, by their path from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	read := func(p string) {
		raw, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(p)))
		if err != nil {
			t.Fatal(err)
		}
		out[p] = string(raw)
	}
	for _, p := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "frontend/README.md"} {
		read(p)
	}
	err := fs.WalkDir(os.DirFS(checkout), "docs", func(p string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") {
			read(p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	link     = regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)
	inDocs   = regexp.MustCompile(`\bdocs/[a-zA-Z0-9_./-]*[a-zA-Z0-9_]`)
	inQuotes = regexp.MustCompile("`((?:app|build|discovery|frontend|gateway|internal|skills)/[a-zA-Z0-9_./-]*)`")
)

// made are folders that a checkout does not have.
var made = []string{"build/bin", "build/cache", "frontend/dist", "frontend/node_modules"}

// missing are the paths that a page names and the repository does not have.
func missing(page, text string, there func(p string) bool) (out []string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if p := path.Join(path.Dir(page), m[1]); !strings.Contains(m[1], ":") && !there(p) {
			out = append(out, m[1])
		}
	}
	for _, p := range inDocs.FindAllString(text, -1) {
		if !there(p) && !there(path.Join(path.Dir(page), p)) {
			out = append(out, p)
		}
	}
	for _, m := range inQuotes.FindAllStringSubmatch(text, -1) {
		if !below(m[1], made) && !there(m[1]) && !there(path.Join(path.Dir(page), "src", m[1])) {
			out = append(out, m[1])
		}
	}
	return out
}

func inRepository(p string) bool {
	_, err := os.Stat(filepath.Join(checkout, filepath.FromSlash(p)))
	return err == nil
}

// TestPagesNameWhatIsThere: a page that leads to a file which was moved is worse
// than none. The changelog tells of what was, so only its links count.
func TestPagesNameWhatIsThere(t *testing.T) {
	for page, text := range pages(t) {
		if page == "CHANGELOG.md" {
			text = strings.Join(link.FindAllString(text, -1), " ")
		}
		for _, p := range missing(page, text, inRepository) {
			t.Errorf("%s names %s, which is not there", page, p)
		}
	}
	nothing := func(string) bool { return false }
	got := missing("docs/a.md", "[b](b.md) [c](../c.md#d) docs/e.md. `gateway/f` `build/cache/g` [h](https://h/i)", nothing)
	if want := "b.md ../c.md docs/e.md gateway/f"; strings.Join(got, " ") != want {
		t.Errorf("an empty repository misses %q, want %q", got, want)
	}
}

// elsewhere are documents that comments cited and that no reader of the
// repository has.
var elsewhere = regexp.MustCompile(`\.\./shared|\bdesign §|security-reliability|protocol-appendix|` +
	`(?:^|[^/\w])(?:session|messages|streaming|model-failover|system-prompt|timezone|product|design)\.md`)

// citations finds comments that cite a document which is not in the repository.
func citations(files []*file) (out []string) {
	for _, f := range files {
		if f.dir == "internal/meta" {
			continue
		}
		for _, group := range f.ast.Comments {
			text := group.Text()
			if m := elsewhere.FindString(text); m != "" {
				out = append(out, f.at(group)+": cites "+strings.TrimSpace(m)+": say the rule itself, its source is not here")
			}
			for _, p := range inDocs.FindAllString(text, -1) {
				if path.Ext(p) == ".md" && !inRepository(p) {
					out = append(out, f.at(group)+": cites "+p+", which is not there")
				}
			}
		}
	}
	return out
}

// TestGlossaryNamesPackages: the last column of each row is where a word belongs.
func TestGlossaryNamesPackages(t *testing.T) {
	words := map[string]bool{}
	for line := range strings.Lines(pages(t)["docs/glossary.md"]) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(line, "---") || strings.Contains(line, "| word |") {
			continue
		}
		if word := strings.TrimSpace(cells[1]); words[word] {
			t.Errorf("%q has two meanings", word)
		} else {
			words[word] = true
		}
		for _, m := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(cells[3], -1) {
			if m[1] != "gateway" && m[1] != "gateway/" && !inRepository("gateway/"+m[1]) {
				t.Errorf("docs/glossary.md says that %q belongs to gateway/%s, which is not there", strings.TrimSpace(cells[1]), m[1])
			}
		}
	}
	if len(words) < 30 {
		t.Errorf("only %d words; has the notation changed?", len(words))
	}
}

// commandNode is a command of the command line and what stands below it.
type commandNode struct {
	group bool // it only holds others
	below map[string]*commandNode
}

// commandTree reads the commands out of app/cli, where each is made by a
// function: group(NAME, …, newX(a)), or &cobra.Command{Use: "NAME …"}.
func commandTree(files []*file) *commandNode {
	made := map[string]*ast.FuncDecl{}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.dir == "app/cli" && !f.test {
				made[fn.Name.Name] = fn
			}
		}
	}
	return commandOf(made["newRoot"], made, 0, true)["hearth"]
}

// commandOf are the commands that a function makes, by their names: one with all
// others below it, or, where it is no constructor, several beside each other.
func commandOf(fn *ast.FuncDecl, made map[string]*ast.FuncDecl, depth int, constructor bool) map[string]*commandNode {
	all, own := map[string]*commandNode{}, ""
	if fn == nil || depth > 4 {
		return all
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, isName := n.Key.(*ast.Ident)
			if v, ok := text(n.Value); ok && isName && key.Name == "Use" {
				own = cmp.Or(own, v)
				all[v] = &commandNode{below: map[string]*commandNode{}}
			}
		case *ast.CallExpr:
			name, ok := n.Fun.(*ast.Ident)
			switch {
			case !ok:
			case name.Name == "group":
				if v, ok := text(n.Args[0]); ok {
					own = v
					all[v] = &commandNode{group: true, below: map[string]*commandNode{}}
				}
				for _, sub := range n.Args[1:] {
					if v := helperName(sub); v != "" {
						all[v] = &commandNode{below: map[string]*commandNode{}}
					}
				}
			case made[name.Name] != nil && (strings.HasPrefix(name.Name, "new") || name.Name == "networkCommands"):
				maps.Copy(all, commandOf(made[name.Name], made, depth+1, name.Name != "networkCommands"))
			}
		}
		return true
	})
	if !constructor || own == "" {
		return all
	}
	top := all[own]
	delete(all, own)
	maps.Copy(top.below, all)
	return map[string]*commandNode{own: top}
}

// helperName is the name that a helper gets for the command that it makes:
// decide(a, "approve", …).
func helperName(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	for _, arg := range call.Args {
		if v, ok := text(arg); ok {
			return v
		}
	}
	return ""
}

// text is the first word of a constant text.
func text(e ast.Expr) (string, bool) {
	v, ok := e.(*ast.BasicLit)
	if !ok || v.Kind != token.STRING {
		return "", false
	}
	word, _, _ := strings.Cut(strings.Trim(v.Value, "\"`"), " ")
	return word, true
}

var commandLine = regexp.MustCompile("`hearth((?: [a-z][a-z|-]*)+)")

// unknownCommand is the part of a command line that there is no command for.
func unknownCommand(tree *commandNode, words string) string {
	at := tree
	for name := range strings.FieldsSeq(words) {
		if !at.group && at != tree {
			return "" // what follows are arguments
		}
		var next *commandNode
		for one := range strings.SplitSeq(name, "|") {
			if next = at.below[one]; next == nil {
				return one
			}
		}
		at = next
	}
	return ""
}

// TestPagesNameCommandsThatExist: what stands in a page as `hearth …` can be typed.
func TestPagesNameCommandsThatExist(t *testing.T) {
	tree := commandTree(repository(t))
	if tree == nil || len(tree.below) < 30 || !tree.below["models"].group || tree.below["models"].below["auth"] == nil {
		t.Fatalf("the commands of app/cli could not be read: %+v", tree)
	}
	for _, cobras := range []string{"completion", "help"} {
		tree.below[cobras] = &commandNode{}
	}
	for page, text := range pages(t) {
		for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
			if name := unknownCommand(tree, m[1]); name != "" {
				t.Errorf("%s names `hearth%s`: there is no %q", page, m[1], name)
			}
		}
	}
	examples := map[string]string{" models auth nothing": "nothing", " nonsense": "nonsense", " chat hello": "", " pause|undone": "undone"}
	for words, want := range examples {
		if got := unknownCommand(tree, words); got != want {
			t.Errorf("hearth%s: %q is unknown, want %q", words, got, want)
		}
	}
}
