package prompt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Whatever changes in what a prompt depends on, the cache says what rendering says,
// and what did not change is not rendered again. A new field of Input is tried by
// itself.
func TestCacheSaysWhatRenderSays(t *testing.T) {
	var c Cache
	check := func(what string, in Input) Prompt {
		t.Helper()
		got := c.Render(in)
		if want := Render(in); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the cache says something else", what)
		}
		return got
	}
	first := check("the first", full())
	if again := check("the same, made anew", full()); unsafe.StringData(again.Text) != unsafe.StringData(first.Text) {
		t.Error("the same prompt was rendered again")
	}
	for i := range reflect.TypeFor[Input]().NumField() {
		f := reflect.TypeFor[Input]().Field(i)
		if !f.IsExported() {
			continue
		}
		in := full()
		reflect.ValueOf(&in).Elem().Field(i).SetZero()
		check(f.Name, in)
		check("back from "+f.Name, full())
	}
	in := full()
	in.Tools = append([]model.ToolSpec(nil), in.Tools...)
	in.Tools[0].Description = "Does another thing. More."
	if got := check("a tool", in); !strings.Contains(got.Text, "Does another thing.") {
		t.Error("the old words of a tool")
	}
	in.Files = append([]File(nil), in.Files...)
	in.Files[1].Text = "Somebody else."
	if got := check("a file", in); !strings.Contains(got.Text, "Somebody else.") {
		t.Error("the old words of a file")
	}
	for i := range 3 * maxCached {
		in.Name = fmt.Sprint("Ada ", i)
		check(in.Name, in)
	}
	if len(c.last) != maxCached {
		t.Errorf("%d prompts are held", len(c.last))
	}
}

func BenchmarkCache(b *testing.B) {
	var c Cache
	in, same := full(), full()
	b.ReportAllocs()
	for b.Loop() {
		c.Render(in)
		in, same = same, in
	}
}
