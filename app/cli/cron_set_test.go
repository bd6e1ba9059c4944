package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// What stands without a flag is the prompt, and a name only in front of one, or where
// flags say already what to do.
func TestWordsOfCronAdd(t *testing.T) {
	for _, tc := range []struct {
		flags         map[string]string
		words         []string
		name, message string
	}{
		{map[string]string{"every": "5m"}, []string{"See to it"}, "", "See to it"},
		{map[string]string{"at": "20m"}, []string{"oven", "Look at it"}, "oven", "Look at it"},
		{map[string]string{"at": "20m", "message": "Look at it"}, []string{"oven"}, "oven", "Look at it"},
		{map[string]string{"every": "1h", "remind": "Stretch"}, []string{"stretch"}, "stretch", ""},
		{map[string]string{"every": "1h", "name": "look"}, []string{"Look at it"}, "look", "Look at it"},
	} {
		f, c := &jobFlags{}, &cobra.Command{}
		f.register(c)
		for name, value := range tc.flags {
			if err := c.Flags().Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.arguments(c, tc.words); err != nil || f.name != tc.name || f.message != tc.message {
			t.Errorf("%v %q: name %q, prompt %q, %v", tc.flags, tc.words, f.name, f.message, err)
		}
	}
}
