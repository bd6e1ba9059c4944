package config

import (
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSec_A_CFG_06_NoKeyTurnsAGuardOff: the keys of OpenClaw that turn a guard off
// for good do nothing here and are named; there are none of ours.
func TestSec_A_CFG_06_NoKeyTurnsAGuardOff(t *testing.T) {
	none := open(t, place(t, "{}"), Options{}).Snapshot().Config
	for _, text := range []string{
		"{ gateway: { controlUi: { dangerouslyDisableDeviceAuth: true } } }",
		"{ gateway: { controlUi: { dangerouslyAllowHostHeaderOriginFallback: true } } }",
		"{ gateway: { controlUi: { allowInsecureAuth: true } } }",
		"{ gateway: { controlUi: { allowExternalEmbedUrls: true } } }",
		"{ gateway: { auth: { mode: 'none' } } }",
		"{ gateway: { auth: { mode: 'trusted-proxy' } } }",
		"{ gateway: { auth: { allowTailscale: true } } }",
		"{ gateway: { trustedProxies: ['127.0.0.1'] } }",
		"{ browser: { ssrfPolicy: { dangerouslyAllowPrivateNetwork: true } } }",
		"{ hooks: { gmail: { allowUnsafeExternalContent: true } } }",
		"{ hooks: { allowRequestSessionKey: true } }",
	} {
		s := open(t, place(t, text), Options{}).Snapshot()
		if diff := cmp.Diff(none, s.Config, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s changes something: %s", text, diff)
		}
		if len(s.Problems()) == 0 {
			t.Errorf("%s is not named", text)
		}
	}
	seen := map[reflect.Type]bool{}
	var look func(typ reflect.Type, path string)
	look = func(typ reflect.Type, path string) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(typ.Elem(), path)
		case reflect.Struct:
			if seen[typ] || !strings.Contains(typ.PkgPath(), "hearth") {
				return
			}
			seen[typ] = true
			for i := range typ.NumField() {
				at := path + "." + typ.Field(i).Name
				if alarming.MatchString(typ.Field(i).Name) {
					t.Errorf("%s turns a guard off: it has to end by itself within a day, and be shown all the time", at)
				}
				look(typ.Field(i).Type, at)
			}
		}
	}
	look(reflect.TypeFor[Config](), "Config")
}

var alarming = regexp.MustCompile(`(?i)danger|insecure|unsafe|bypass|^disable.*(auth|check|guard)|skip.*(auth|verify|check)|noauth`)

// TestSec_A_DOS_14_StormOfReloads: a hundred edits in a row are one change or two,
// and the last one counts.
func TestSec_A_DOS_14_StormOfReloads(t *testing.T) {
	path := place(t, portText(1))
	w := watch(t, path, Options{Debounce: 500 * time.Millisecond, Poll: time.Hour})
	w.untilPort(1)
	applied := new(atomic.Int64)
	defer w.Subscribe(nil, func(Config, Config) { applied.Add(1) })()
	for port := range 100 {
		swap(t, path, portText(2+port))
	}
	w.untilPort(101)
	if n := applied.Load(); n > 2 {
		t.Errorf("a hundred edits were applied %d times", n)
	}
}
