//go:build !windows

package isolate

import "testing"

func TestSec_A_DOS_WorkApartWritesNoFiles(t *testing.T) {
	out, err := runner(t).Do(t.Context(), "write", nil, Limits{})
	if err != nil || string(out) != "refused" {
		t.Errorf("%q, %v", out, err)
	}
}
