package search

import "testing"

// What people type without accents, capitals and letters that their keyboard
// has not finds what is written with them.
func TestFolded(t *testing.T) {
	for text, want := range map[string]string{
		"ÉCOLE": "ecole", "e\u0301": "e", "Łódź": "lodz", "Øre": "ore", "Đorđe": "dorde", "Straße": "strasse", "STRAẞE": "strasse", "Ærø": "aero",
		"þing":   "thing",
		"Ναΐτης": "ναιτησ", "Ёлка и йод": "елкаииод", "ﬁne": "fine", "ＡＢＣ": "abc", "ǅ": "dz", "أحمد": "احمد", "שָׁלוֹם": "שלום",
		"ｶﾀｶﾅ": "カタカナ", "がく": "がく", "한글": "한글", "हिन्दी": "हिन्दी", "ไทย": "ไทย",
	} {
		var got []byte
		for _, r := range text {
			if r != ' ' {
				got = appendFolded(got, r)
			}
		}
		if string(got) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
