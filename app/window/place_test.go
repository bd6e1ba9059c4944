package window

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func TestSec_A_LINK_01_WhatALinkDoesToTheWindow(t *testing.T) {
	for link, want := range map[string]struct {
		where string
		asks  offer
	}{
		"settings/usage":                 {where: "settings/usage"},
		"chat/agent%3Amain%3Amain":       {where: "chat/agent%3Amain%3Amain"}, // of the icon
		"hearth://settings/usage":        {where: "settings/usage"},
		"hearth://chat?text=a%2Fb&key=x": {where: "offer/a%2Fb"},
		"hearth://pair/abc":              {asks: offer{code: "abc"}},
	} {
		var w window
		w.follow(t.Context(), link)
		if w.where != want.where || w.asks != want.asks {
			t.Errorf("%s: %q %+v", link, w.where, w.asks)
		}
	}
	var w window
	w.follow(t.Context(), "hearth://exec/x")
	if w.where != "" || w.asks.bad == nil {
		t.Errorf("%q %+v", w.where, w.asks)
	}
}

func TestARememberedPlaceMustMakeSense(t *testing.T) {
	w := &window{dir: statedir.Dir(t.TempDir())}
	first := place{Width: firstWidth, Height: firstHeight}
	for text, want := range map[string]place{
		"":                           first,
		"{":                          first,
		`{"width":10,"height":10}`:   first,
		`{"width":9e9,"height":500}`: first,
		`{"width":800,"height":600,"x":5,"y":6,"placed":true}`:     {Width: 800, Height: 600, X: 5, Y: 6, Placed: true},
		`{"width":800,"height":600,"x":90000,"y":6,"placed":true}`: {Width: 800, Height: 600, X: 90000, Y: 6},
	} {
		if err := os.WriteFile(w.file(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.remembered()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
