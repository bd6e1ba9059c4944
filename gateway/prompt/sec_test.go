package prompt

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Names of folders, branches, hosts, chats and people do not stand in the system
// prompt: who adds a field to its input has to say here why nobody outside can
// write it. Tools are ours, the zone and the role come from the settings and us.
func TestSec_A_INJ_03_NothingFromOutsideInThePrompt(t *testing.T) {
	var got []string
	for f := range reflect.TypeFor[Input]().Fields() {
		got = append(got, f.Name+" "+f.Type.String())
	}
	want := []string{"Tools []model.ToolSpec", "TimeZone string", "Helper bool"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
