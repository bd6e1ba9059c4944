package typescript

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// distinct writes the form n times, each with another number.
func distinct(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

// TestSec_A_BOX_08_HostileSource reads texts that are made to exhaust a
// parser. Each must end, within the parser's own bounds: a stack that runs
// over cannot be caught.
func TestSec_A_BOX_08_HostileSource(t *testing.T) {
	const n = 1 << 17
	many := strings.Repeat
	for name, code := range map[string]string{
		"not": many("!", 5<<20) + "1", "brackets": many("(", n) + "1" + many(")", n), "lists": many("[", n), "objects": many("{a:", n),
		"blocks": many("{", n), "arrows": many("a=>", n), "arrow heads": many("(a=", n), "async": many("async(", n), "choices": many("a?", n),
		"choice arrows": many("a?(b):c=>", n/4), "powers": many("a**", n), "new": many("new ", n), "if": many("if(a)", n), "else": "if(a){}" + many("else if(a){}", n/4),
		"labels": many("a:", n), "templates": many("`${", n), "assignments": "a" + many("=a", n), "calls": "a" + many("(", n),
		"type arguments": "let a:" + many("A<", n), "type groups": "let a:" + many("(", n), "function types": "let a:" + many("(b:", n), "tuples": "let a:" + many("[", n),
		"pattern types": "let a:" + many("({b:", n), "conditional types": "let a:" + many("b extends ", n), "keyof": "let a:" + many("keyof ", n), "infer": "let a:" + many("infer b extends ", n),
		"comparisons": many("a<", n), "call types": "a" + many("<a", n), "casts": many("<a>", n) + "b", "as": "a" + many(" as b", n), "bang": "a" + many("!", 5*n),
		"members": "class A {" + many("a(){class A{", n/8), "functions": many("function a(){", n/8), "typeof": many("typeof ", n) + "1",
		"mixed": many("(a<b>(c?(d):(e=>", n/8), "unions": "let a:" + many("|a", n), "classes": "class A extends " + many("class extends ", n/8),
		"binding": "let " + many("[", n), "defaults": "function f(" + many("a=function(", n/8), "decorators": many("@a ", n), "yield": "function*f(){" + many("yield ", n),
		"spread": "f(" + many("...", n), "escapes": many(`\u0061`, n/4), "nul": many("\x00", n), "broken text": many("\xff\xfe", n), "quotes": many("'", n), "slashes": many("/ ", n),
		"long lines": "let a = '" + many("x", 5*n) + "'", "nested heads": many("((a,", n/4) + "b" + many("))=>c", n/4), "enums": distinct("enum a%d {}", n), "many casts": many("<a>b;", n), "many tries": many("(a(1));", n), "generic arrows": many("<a>(b=", n/4),
	} {
		t.Run(name, func(t *testing.T) {
			js, err := Transform(t.Context(), code)
			var wrong *Error
			if err != nil && !errors.As(err, &wrong) {
				t.Errorf("%v", err)
			}
			if err == nil && len(js) < len(code)/2 {
				t.Errorf("%d bytes became %d", len(code), len(js))
			}
			_ = Modules(t.Context(), code+`\u`, JavaScript)
		})
	}
}

// TestHostileAbort gives up when the caller does.
func TestHostileAbort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Transform(ctx, strings.Repeat("a;", 1<<20)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestLongSource takes 5 MB of an honest program, and refuses more than the bound.
func TestLongSource(t *testing.T) {
	const line = "{ const a: number = 1; function f<T>(x: T): T { return x as T } f<number>(a); }\n"
	code := strings.Repeat(line, 5<<20/len(line))
	js, err := Transform(t.Context(), code)
	if err != nil || len(js) != len(code) || strings.Contains(js, "number") {
		t.Errorf("%d bytes, %v", len(js), err)
	}
	if _, err := Transform(t.Context(), strings.Repeat(" ", MaxSource+1)); err == nil || !strings.Contains(err.Error(), "longer than 8 MB") {
		t.Errorf("%v", err)
	}
}

func BenchmarkTransform(b *testing.B) {
	code := strings.Repeat("const a: number = 1; function f<T>(x: T): T { return x as T } f<number>(a);\n", 8)
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		if _, err := Transform(b.Context(), code); err != nil {
			b.Fatal(err)
		}
	}
}
