package typescript

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// nest is a text that can be made as deep or as long as one likes: the second
// part stands in itself, the fourth closes it.
type nest [5]string

func (p nest) of(n int) string {
	return p[0] + strings.Repeat(p[1], n) + p[2] + strings.Repeat(p[3], n) + p[4]
}

// hostile are made to exhaust a parser.
var hostile = map[string]nest{
	"not":                       {"", "!", "1"},
	"not of a type":             {"a", "!"},
	"signs":                     {"", "- + ", "1"},
	"signs in lists":            {"[", "-[", "1", "]", "]"},
	"increments":                {"", "++ ", "a"},
	"words":                     {"", "typeof ", "1"},
	"void":                      {"", "void\n", "1"},
	"await":                     {"", "await ", "1"},
	"yield":                     {"function*f(){", "yield ", "1", "", "}"},
	"new":                       {"", "new ", "a"},
	"new calls":                 {"", "new ", "a", "()"},
	"casts":                     {"", "<a>", "b"},
	"powers":                    {"", "a**", "b"},
	"assignments":               {"", "a=", "b"},
	"assignments by line":       {"", "a=\n", "b"},
	"other assignments":         {"", "a??=", "b"},
	"choices":                   {"", "a?", "b", ":c"},
	"choices behind":            {"", "a?b:", "c"},
	"choices of objects":        {"x = ", "{} ? {} : ", "1"},
	"arrows":                    {"", "a=>", "b"},
	"async arrows":              {"", "async a=>", "b"},
	"arrow heads":               {"", "(a=", "1", ")=>b"},
	"arrow bodies":              {"", "()=>{", "", "}"},
	"arrow lists":               {"", "a=>[", "b", "]"},
	"brackets":                  {"", "(", "1", ")"},
	"lists":                     {"x=", "[", "1", "]"},
	"objects":                   {"x=", "{a:", "1", "}"},
	"computed":                  {"x=", "{[", "1", "]:1}"},
	"blocks":                    {"", "{", "", "}"},
	"templates":                 {"", "`${", "1", "}`"},
	"tags":                      {"a", "``"},
	"spread":                    {"f(", "[...", "1", "]", ")"},
	"calls":                     {"a", "()"},
	"calls in calls":            {"", "a(", "", ")"},
	"indexes":                   {"a", "[0]"},
	"indexes in indexes":        {"", "a[", "0", "]"},
	"members":                   {"a", ".a"},
	"members by line":           {"a", "\n.a"},
	"maybe":                     {"a", "?.a"},
	"members behind brackets":   {"", "(", "a", strings.Repeat(".a", 40) + ")"},
	"calls behind objects":      {"", "({a:", "1", "}).a.b.c.d.e.f()"},
	"if":                        {"", "if(a)", "b"},
	"if by line":                {"", "if(a)\n", "b"},
	"else":                      {"if(a){}", "else if(a){}", ""},
	"else with semicolons":      {"if(a)b;", "else if(a)b;", ""},
	"for":                       {"", "for(;;)", "a"},
	"for of":                    {"", "for(a of b)", "c"},
	"for await":                 {"", "for await(a of b)", "c"},
	"while":                     {"", "while(a)", "b"},
	"do":                        {"", "do ", "a;", "while(b);"},
	"with":                      {"", "with(a)", "b"},
	"labels":                    {"", "a:", "b"},
	"labels and commas":         {"", "a:b:c:d:x,f(()=>{", "", "})"},
	"ifs and commas":            {"", "if(a)if(a)if(a)b,f(()=>{", "", "})"},
	"try":                       {"", "try{", "", "}catch{}"},
	"switch":                    {"", "switch(a){case b:", "", "}"},
	"cases":                     {"switch(a){", "case b:", "", "", "}"},
	"cases with ends":           {"switch(a){", "case b:;", "", "", "}"},
	"functions":                 {"", "function a(){", "", "}"},
	"default functions":         {"", "function a(b=function(){", "", "}){}"},
	"classes":                   {"x = ", "class extends ", "a", "{}"},
	"classes in classes":        {"", "class A{a(){", "", "}}"},
	"fields":                    {"x = ", "class {a=", "1", "}"},
	"computed members":          {"x = ", "class {[", "1", "]=1}"},
	"static blocks":             {"", "class A{static{", "", "}}"},
	"modifiers":                 {"class A{", "public ", "a", "", "}"},
	"modifiers by line":         {"class A{", "static\n", "a", "", "}"},
	"decorators":                {"", "@a ", "class A{}"},
	"decorators in decorators":  {"x=", "@a(", "1", ")class{}"},
	"declare":                   {"", "declare ", "let a"},
	"abstract":                  {"", "abstract ", "class A{}"},
	"enums":                     {"x=", "function(){enum A{b=", "1", "}}"},
	"binding":                   {"let ", "[", "a", "]", "=b"},
	"binding objects":           {"let ", "{a:", "b", "}", "=c"},
	"binding defaults":          {"let ", "[a=", "1", "]", "=c"},
	"type arguments":            {"let a:", "A<", "b", ">"},
	"type arguments and commas": {"let a:", "A<b,", "b", ">"},
	"types in brackets":         {"let a:", "(", "b", ")"},
	"function types":            {"let a:", "(b:", "c", ")=>d"},
	"functions of functions":    {"let a:", "(b)=>", "c"},
	"new types":                 {"let a:", "new()=>", "c"},
	"tuples":                    {"let a:", "[", "b", "]"},
	"object types":              {"let a:", "{b:", "c", "}"},
	"pattern types":             {"let a:", "({b:", "c", "})"},
	"conditional types":         {"let a:", "b extends c?", "d", ":e"},
	"conditional types behind":  {"let a:", "b extends c?d:", "e"},
	"keyof":                     {"let a:", "keyof ", "b"},
	"keyof by line":             {"let a:", "keyof\n", "b"},
	"escaped keyof":             {"let a:", "\\u006beyof ", "b"},
	"unions":                    {"let a:", "|b", ""},
	"bars":                      {"let a:", "| ", "b"},
	"list types":                {"let a:b", "[]"},
	"index types":               {"let a:", "b[", "c", "]"},
	"mapped":                    {"let a:", "{[b in c]:", "d", "}"},
	"template types":            {"let a:", "`${", "b", "}`"},
	"typeof types":              {"let a:", "typeof b<", "c", ">"},
	"is":                        {"let a:", "(b)=>b is ", "c"},
	"as":                        {"a", " as b"},
	"as functions":              {"a", " as ()=>b"},
	"satisfies":                 {"a", " satisfies b"},
	"infer":                     {"let a:", "infer b extends ", "c"},
	"infer in lists":            {"let z:", "[infer U extends ", "x", " ? a : b]"},
	"infer in functions":        {"let z:", "T extends (a:infer U extends (", "x", ")=>y) ? a : b"},
	"comparisons":               {"a", "<a"},
	"comparisons in lists":      {"x=[", "a<b,", "", "", "]"},
	"calls of types":            {"", "a<b>(", "1", ")"},
	"calls of types, open":      {"a", "<a("},
	"choices of arrows":         {"", "a?(b):c=>", "d"},
	"choices of whole arrows":   {"", "a?(b):c=>", "d", ":e"},
	"choices in lists":          {"z=", "[a?(x):y=>z=>", "1", "]"},
	"choices in blocks":         {"z=", "a?(x):y=>{z=", "1", "}"},
	"choices with async":        {"z=", "a?async(x):y=>[", "1", "]:z"},
	"generic arrows":            {"z=", "<a,>(b=", "1", ")=>c"},
	"arrows that are none":      {"", "async(a=", "1", ")"},
	"sums":                      {"a", "+a"},
	"sums of texts":             {"'a'", "+'a'"},
	"or":                        {"a", "||a"},
	"or and sums":               {"a", "||a+a*a"},
	"or else":                   {"a", "??a"},
	"commas":                    {"a", ",a"},
	"commas in brackets":        {"(a", ",a", ")"},
	"commas in indexes":         {"a[a", ",a", "]"},
	"elements":                  {"x=[", "a,", "", "", "]"},
	"entries":                   {"x={", "a:1,", "", "", "}"},
	"arguments":                 {"f(", "a,", "", "", ")"},
	"statements":                {"", "a;", ""},
	"lines":                     {"", "a\n", ""},
	"empty":                     {"", ";", ""},
	"names":                     {"", "let a", "", "", ""},
	"many ifs":                  {"", strings.Repeat("if(a)", 300) + "b;", ""},
	"many arrows":               {"", strings.Repeat("a=>", 90) + "b;", ""},
	"many choices":              {"", strings.Repeat("a?(b):c=>", 5) + "d;", ""},
	"many infers":               {"", "let a:" + strings.Repeat("[infer U extends ", 5) + "x" + strings.Repeat("?a:b]", 5) + ";", ""},
	"regular expressions":       {"", "/(/;", ""},
	"texts with brackets":       {"", "(')',", "1", ")"},
	"templates with brackets":   {"", "(`)`,", "1", ")"},
	"slashes":                   {"a", "/a"},
	"spaces":                    {"", "\u00a0!", "1"},
	"nul":                       {"", "\x00", ""},
	"escapes":                   {"", `\u0061`, ""},
	"imports":                   {"", "import(", "a", ")"},
	"requires":                  {"", "require(", "a", ")"},
	"optional casts":            {"", "a?.<b>(", "1", ")"},
	"super":                     {"class A extends B{constructor(){", "super(", "", ")", "}}"},
	"fields with semicolons":    {"class A{", "a;", "", "", "}"},
	"mixed":                     {"", "(a<b>(c?[d]:{e:f=>!", "1", "}))"},
}

// deepest is the largest n whose text passes the check and fits.
func (p nest) deepest() int {
	low, high := 0, MaxSource/max(1, len(p[1])+len(p[3]))
	for low < high {
		mid := (low + high + 1) / 2
		if text := p.of(mid); len(text) <= MaxSource && check(text) == nil {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

const (
	hostileChild = "HEARTH_TEST_HOSTILE_SOURCE"
	stackOfChild = 64 << 20 // of a gigabyte that Go allows
)

// TestSec_A_BOX_08_HostileSource has texts parsed that are just allowed, and
// far longer ones refused, by another process whose stack may not grow far: one
// that runs over ends a process, which nothing can catch.
func TestSec_A_BOX_08_HostileSource(t *testing.T) {
	if os.Getenv(hostileChild) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSec_A_BOX_08_HostileSource$", "-test.v")
		cmd.Env = append(os.Environ(), hostileChild+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out[:min(len(out), 6000)])
		}
		t.Logf("%s", out)
		return
	}
	debug.SetMaxStack(stackOfChild)
	for name, p := range hostile {
		n := p.deepest()
		began := time.Now()
		_, _, err := Transform(t.Context(), p.of(n))
		took := time.Since(began)
		fmt.Printf("%-28s %6d %8d bytes %8.1f ms %v\n", name, n, len(p.of(n)), float64(took.Microseconds())/1000, short(err))
		readable(t, name, err)
		_, _, err = Transform(t.Context(), p.of(1<<20/len(p[1])))
		if err == nil {
			t.Errorf("%s: a megabyte is taken", name)
		}
		_ = Modules(t.Context(), p.of(n)+`\u`)
		_ = Modules(t.Context(), p.of(n))
	}
	r := seed.Fixed(t, 3)
	for range 300 {
		if code := mixture(r); check(code) == nil {
			_, _, err := Transform(t.Context(), code)
			readable(t, code[:min(len(code), 80)], err)
		}
	}
}

func short(err error) string {
	if err == nil {
		return "taken"
	}
	return err.Error()[:min(len(err.Error()), 60)]
}

func readable(t *testing.T, name string, err error) {
	t.Helper()
	var wrong *Error
	var module *ModuleError
	if err != nil && !errors.As(err, &wrong) && !errors.As(err, &module) {
		t.Errorf("%s: %v", name, err)
	}
}

// mixture nests the hostile texts in each other.
func mixture(r *rand.Rand) string {
	all := nests()
	code, closing := "", ""
	for range 1 + r.IntN(6) {
		p := all[r.IntN(len(all))]
		n := 1 << r.IntN(10)
		code += p[0] + strings.Repeat(p[1], n)
		if r.IntN(4) > 0 {
			code += "("
			closing = ")" + closing
		}
		closing = strings.Repeat(p[3], n) + p[4] + closing
		if r.IntN(5) == 0 {
			closing = p[2] + closing
		}
	}
	return code + "1" + closing
}

func nests() (all []nest) {
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		all = append(all, hostile[name])
	}
	return all
}
