package i18n

import (
	"os"
	"strings"
	"testing"
)

func openErrors(t testing.TB, language string) *Texts {
	t.Helper()
	e, err := OpenErrors(os.DirFS("."), language)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestErrorsAreSaid(t *testing.T) {
	e := openErrors(t, "xx")
	if got := e.Say("There is no agent \"x\"."); got != "There is no agent \"x\"." {
		t.Errorf("English says %q", got)
	}
	e = openErrors(t, "de")
	e.words.english = map[string]string{
		"a": "There is no agent {1}. `hearth agents list` shows those that are there.",
		"b": "{1}. Nothing was accepted.", "c": "the file is empty; choose another one",
		"d": "{1}; make it with `hearth secrets unlock`", "e": "{2} of {1} are gone", "f": "{2} of {1} are gone{3} {4}",
	}
	e.words.own = map[string]string{
		"a": "Den Assistenten {1} gibt es nicht. `hearth agents list` zeigt, welche da sind.",
		"b": "{1}. Nichts wurde angenommen.", "c": "die Datei ist leer; nimm eine andere",
		"d": "{1}; mach es mit `hearth secrets unlock`", "e": "von {1} fehlen {2}", "f": "von {1} fehlen {2}{3} {4}",
	}
	for text, want := range map[string]string{
		"There is no agent \"x\". `hearth agents list` shows those that are there.": "Den Assistenten \"x\" gibt es nicht. " +
			"`hearth agents list` zeigt, welche da sind.",
		"The file is empty; choose another one. Nothing was accepted.": "Die Datei ist leer; nimm eine andere. Nichts wurde angenommen.",
		"the file is empty; choose another one":                        "die Datei ist leer; nimm eine andere",
		"The file is empty; choose another one.":                       "Die Datei ist leer; nimm eine andere.",
		"read it: the file is empty; choose another one":               "read it: die Datei ist leer; nimm eine andere",
		"3 of 7 are gone": "von 7 fehlen 3",
		"Google is asleep. The file is empty; choose another one.": "Google is asleep. Die Datei ist leer; nimm eine andere.",
		"3 of 7 are gone (HTTP 401: no. Really). The file is empty; choose another one.": "von 7 fehlen 3 (HTTP 401: no. Really). " +
			"Die Datei ist leer; nimm eine andere.",
		"something else": "something else",
		"":               "",
	} {
		if got := e.Say(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestErrorsFromRightToLeft: what is said within another sentence is written from right
// to left as a whole, whatever letter it begins with; what stays in English, with the
// marks around it, is not; and what stands between backquotes can be copied as it is.
func TestErrorsFromRightToLeft(t *testing.T) {
	e := openErrors(t, "ar")
	e.words.english = map[string]string{"a": "{1} did not accept the key{2} {3}", "b": "Check the key: run `{1}`."}
	e.words.own = map[string]string{"a": "لم يقبل {1} المفتاح{2} {3}", "b": "`{1}` يضبط المفتاح."}
	got := e.Say("Ember did not accept the key (HTTP 401: no). Check the key: run `hearth`.")
	want := "لم يقبل \u2068Ember\u2069 المفتاح \u2068(HTTP 401: no).\u2069 \u2067`hearth` يضبط المفتاح\u2069."
	if got != want {
		t.Errorf("%+q, want %+q", got, want)
	}
	if got, want := e.Say("Ember sleeps. Check the key: run `x`."), "\u2068Ember sleeps.\u2069 `x` يضبط المفتاح."; got != want {
		t.Errorf("%+q, want %+q", got, want)
	}
}

// FuzzErrors: whatever an error says, its translation is made in a moment and is not
// empty.
func FuzzErrors(f *testing.F) {
	f.Add("There is no agent \"x\". `hearth agents list` shows those that are there.")
	f.Add(strings.Repeat("a: ; ", 400) + "{1}")
	for _, text := range openErrors(f, "de").words.english {
		f.Add(text)
	}
	e := openErrors(f, "de")
	f.Fuzz(func(t *testing.T, text string) {
		if got := e.Say(text); got == "" && text != "" {
			t.Errorf("%q becomes nothing", text)
		}
	})
}
