package i18n

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// replying are the files of slash commands, and of what their replies are made of.
var replying = regexp.MustCompile(`gateway/(command/words|approval/words/words|session/context|systemprompt/parts` +
	`|provider/choice/(words|match)|feature/(pause/pause|tasks/command|cron/(commands|buttons|proposals)|usage/commands` +
	`|approvals/command|chat/(commands|why|queue)|messaging/moving|sessions/(commands|status)|models/commands))\.go$`)

// replies are the functions of these files that make texts for people.
var replies = regexp.MustCompile(`^(cmd\w+|command|Context|Parts|words|Words|contextWords|Refusal|noTrigger|guestStatus` +
	`|stopped|found|named|listed|shown|plan|dueWords|whereTo|costWords|ofLimit|byDefault|stateWords|ruleWords|List)$`)

// ofReplies is what slash commands answer. It is Markdown of several lines, and each line
// is found by itself, without the mark of a list.
func ofReplies(file string, n ast.Node) (out []ast.Expr) {
	if !replying.MatchString(file) {
		return nil
	}
	if v, ok := n.(*ast.ValueSpec); ok { // a reply that several commands give
		return lines(v.Values)
	}
	f, ok := n.(*ast.FuncDecl)
	if !ok || !replies.MatchString(f.Name.Name) {
		return nil
	}
	out = returned(f)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			out = append(out, n.Value)
		case *ast.CallExpr:
			switch fun, ok := n.Fun.(*ast.SelectorExpr); {
			case !ok:
			case fun.Sel.Name == "WriteString", fun.Sel.Name == "Sprintf":
				out = append(out, n.Args[0])
			case fun.Sel.Name == "Fprintf":
				out = append(out, n.Args[1])
			}
		}
		return true
	})
	return lines(out)
}

var mark = regexp.MustCompile(`^\s*- `)

// beside begins what is put behind something else, or in front of it.
var beside = regexp.MustCompile(`^[,:;.(]|^\*\*Hearth |^%s- |^\x00- `)

// lines are those of texts.
func lines(texts []ast.Expr) (out []ast.Expr) {
	for _, e := range texts {
		for line := range strings.Lines(constant(e)) {
			line = mark.ReplaceAllString(strings.TrimSpace(line), "")
			if beside.MatchString(line) {
				continue
			}
			out = append(out, &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(line)})
		}
	}
	return out
}
