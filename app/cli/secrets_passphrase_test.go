package cli

import "testing"

// What is easily guessed is called weak, whatever characters it has; words that
// have nothing to do with each other are strong.
func TestPassphraseStrength(t *testing.T) {
	weak := []string{"password", "Password1", "12345678", "aaaaaaaaaaaaaaaa", "abcdefghijkl", "qwertyuiop", "iloveyou", "hearth2026"}
	strong := []string{"correct horse battery staple lamp", "xK9#mQ2$vL7@pR4!", "zebra-cloud-ticket-spoon-river"}
	for _, p := range weak {
		if bits := guesses(p); bits >= 40 {
			t.Errorf("%q: %.0f bits", p, bits)
		}
	}
	for _, p := range strong {
		if bits := guesses(p); bits < 55 {
			t.Errorf("%q: only %.0f bits", p, bits)
		}
	}
}
