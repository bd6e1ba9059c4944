package engine

import (
	"encoding/json"
	"testing"
)

func TestSnap(t *testing.T) {
	e := New(Options{CacheDir: t.TempDir()})
	defer e.Close(t.Context())
	v, st, err := e.Start(t.Context(), Program{Code: "const x = await Promise.all([tools.call('a', {b:1}), tools.call('c')]); return x"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := v.Snapshot(t.Context(), "s")
	v.Close()
	t.Log(len(b), err, st)
	w, err := e.Restore(t.Context(), b, Limits{}, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	st, err = w.Settle(t.Context(), []Settled{{ID: 1, Value: json.RawMessage(`{"x":1}`)}})
	t.Log(st, err)
	st, err = w.Settle(t.Context(), []Settled{{ID: 2, Value: json.RawMessage(`{"x":2}`)}})
	t.Log(st, err, string(st.Value))
}
