package choice

import "testing"

func TestContextWords(t *testing.T) {
	for _, tc := range []struct {
		used, window int
		want         string
	}{
		{12_000, 128_000, "12K of 128K tokens, 9 %"},
		{940, 32_768, "940 of 33K tokens, 3 %"},
		{1_240, 1_048_576, "1.2K of 1M tokens, 0 %"},
		{250_000, 200_000, "250K of 200K tokens, 100 %"},
		{500, 0, "500 tokens; the model's window is not known, Hearth keeps within 32K"},
		{0, 0, "not known; Hearth keeps within 32K tokens"},
	} {
		if got := contextWords(tc.used, tc.window); got != tc.want {
			t.Errorf("%d of %d: %q, want %q", tc.used, tc.window, got, tc.want)
		}
	}
}
