package discovery

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/grandcat/zeroconf"
	"github.com/miekg/dns"
	"golang.org/x/time/rate"
)

func TestNamesKeepTheirBytes(t *testing.T) {
	for _, name := range []string{"plain", "Anna's Mac (OpenClaw)", "v1.2 box", "Büro ✓", `a\b"c;d@e`, strings.Repeat("ü", 31) + "x",
		"trailing.", ".", `\255`, `\9`} {
		e := escapeLabel(name)
		if got := unescape(e); got != name {
			t.Errorf("%q became %q by way of %q", name, got, e)
		}
		b := make([]byte, 300)
		if _, err := dns.PackDomainName(e+"._x._tcp.local.", b, 0, nil, false); err != nil {
			t.Errorf("%q: %v", name, err)
		} else if int(b[0]) != len(name) || string(b[1:1+len(name)]) != name {
			t.Errorf("%q on the wire: %q", name, b[:1+len(name)])
		}
	}
}

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"a\x00b\nc\x1b[31m": "abc[31m", "  x ": "x", "\u202egnp": "gnp", "a\u200bb": "ab", "\xff\xfe": "",
		strings.Repeat("ü", 40): strings.Repeat("ü", 31),
	} {
		if got := CleanName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := numbered(strings.Repeat("ü", 31), 12); len(got) > maxLabel || !strings.HasSuffix(got, "ü (12)") || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}

func TestTextKeepsItsBytes(t *testing.T) {
	in := map[string]string{"p": `C:\100\x`, "q": `say "hi"`, "u": "Büro ✓", "empty": ""}
	strs, err := encodeText(in)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 500)
	n, err := dns.PackRR(&dns.TXT{Hdr: header("x.", dns.TypeTXT, 1, 1), Txt: strs}, b, 0, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := dns.UnpackRR(b[:n], 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, decodeText(back.(*dns.TXT).Txt)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []map[string]string{{"": "x"}, {"a=b": "x"}, {`a\b`: "x"}, {"ä": "x"}, {"k": strings.Repeat("x", 254)},
		{"a": strings.Repeat("x", 250), "b": strings.Repeat("x", 250), "c": strings.Repeat("x", 250), "d": strings.Repeat("x", 250),
			"e": strings.Repeat("x", 250)}} {
		if _, err := encodeText(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if got := decodeText([]string{"K=1", "k=2", "=3", "flag", "x=a=b"}); cmp.Diff(map[string]string{"k": "1", "flag": "", "x": "a=b"},
		got) != "" {
		t.Error(got)
	}
}

func TestWhatCannotBeAnnounced(t *testing.T) {
	good := Options{Name: "x", ID: "0123456789ab", Port: 1}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no name":  func(o *Options) { o.Name = "\x1b" },
		"short id": func(o *Options) { o.ID = "abc" },
		"odd id":   func(o *Options) { o.ID = "0123456789AB.local" },
		"port":     func(o *Options) { o.Port = 70000 },
		"text":     func(o *Options) { o.Text = map[string]string{"a=b": ""} },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestVirtualInterfaces(t *testing.T) {
	for name, want := range map[string]bool{"docker0": true, "br-1234": true, "vEthernet (WSL)": true, "utun3": true, "tailscale0": true,
		"eth0": false, "en0": false, "wlan0": false, "Wi-Fi": false, "br0": false} {
		if virtual(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func lan(cidr ...string) Interface {
	n := Interface{Interface: net.Interface{Index: 2, Name: "eth0"}}
	for _, c := range cidr {
		p := netip.MustParsePrefix(c)
		if p.Addr().Is4() {
			n.V4 = append(n.V4, p)
		} else {
			n.V6 = append(n.V6, p)
		}
	}
	return n
}

// mute is a responder without sockets.
func mute(id string) (*responder, chan alarm) {
	alarms := make(chan alarm, 8)
	return &responder{host: "gw-" + id + ".local.", service: Service + ".local.", instance: "den." + Service + ".local.", port: 18789,
		flood:  100,
		alarms: alarms, on: []Interface{lan("10.0.0.5/24", "fd00::5/64")}, text: []string{"id=" + id}, allowed: rate.NewLimiter(50, 100)}, alarms
}

func TestAnswers(t *testing.T) {
	r, _ := mute("m")
	ask := func(name string, kind, class uint16, legacy bool) (string, bool) {
		in := &dns.Msg{MsgHdr: dns.MsgHdr{Id: 7}, Question: []dns.Question{{Name: name, Qtype: kind, Qclass: class}}}
		out, alone := r.answer(in, &r.on[0], legacy)
		if out == nil {
			return "", alone
		}
		var kinds []string
		for _, rr := range append(out.Answer, out.Extra...) {
			kinds = append(kinds, dns.TypeToString[rr.Header().Rrtype])
			if legacy && (rr.Header().Ttl > legacyLife || rr.Header().Class != dns.ClassINET) {
				t.Errorf("an old resolver would keep %s", rr)
			}
		}
		if legacy != (out.Id == 7) || legacy != (len(out.Question) == 1) {
			t.Errorf("legacy %v: %s", legacy, out)
		}
		return strings.Join(kinds, " "), alone
	}
	for _, c := range []struct {
		name        string
		kind, class uint16
		legacy      bool
		want        string
		alone       bool
	}{
		{"gw-m.local.", dns.TypeA, 1, false, "A AAAA", false},
		{"GW-M.local.", dns.TypeAAAA, 1, false, "A AAAA", false},
		{"gw-m.local.", dns.TypeA, 1 | flushBit, false, "A AAAA", true},
		{"gw-m.local.", dns.TypeTXT, 1, false, "", false},
		{"other.local.", dns.TypeA, 1, false, "", false},
		{"den." + Service + ".local.", dns.TypeSRV, 1, false, "", false}, // the library's
		{"Den." + Service + ".local.", dns.TypeSRV, 1, false, "SRV TXT A AAAA", false},
		{"den." + Service + ".local.", dns.TypeANY, 1, false, "SRV TXT A AAAA", false},
		{Service + ".local.", dns.TypePTR, 1, false, "", false}, // the library's
		{Service + ".local.", dns.TypePTR, 1, true, "PTR SRV TXT A AAAA", true},
	} {
		if got, alone := ask(c.name, c.kind, c.class, c.legacy); got != c.want || alone != c.alone {
			t.Errorf("%s %s: %q %v", c.name, dns.TypeToString[c.kind], got, alone)
		}
	}
}

func TestConflicts(t *testing.T) {
	srv := func(target string, life uint32) *dns.Msg {
		return &dns.Msg{Answer: []dns.RR{&dns.SRV{Hdr: header("DEN."+Service+".local.", dns.TypeSRV, 1, life), Target: target}}}
	}
	for name, c := range map[string]struct {
		in        *dns.Msg
		deaf      bool
		give, say bool
	}{
		"ours":            {in: srv("gw-m.local.", 120)},
		"a better claim":  {in: srv("gw-a.local.", 120), give: true},
		"a worse claim":   {in: srv("gw-z.local.", 120), say: true},
		"a goodbye":       {in: srv("gw-a.local.", 0), say: true},
		"our own goodbye": {in: srv("gw-m.local.", 0), deaf: true},
		"somebody else's": {in: &dns.Msg{
			Answer: []dns.RR{&dns.SRV{Hdr: header("x."+Service+".local.", dns.TypeSRV, 1, 120), Target: "gw-a.local."}}}},
		"goodbye, pointer": {in: &dns.Msg{
			Extra: []dns.RR{&dns.PTR{Hdr: header(Service+".local.", dns.TypePTR, 1, 0), Ptr: "den." + Service + ".local."}}}, say: true},
	} {
		r, alarms := mute("m")
		r.deaf = c.deaf
		r.watch(c.in)
		gave := len(alarms) == 1
		if said := !r.spoke.IsZero() && !gave; gave != c.give || said != c.say {
			t.Errorf("%s: gave way %v, spoke %v", name, gave, said)
		}
		r.watch(c.in) // within a second
		if len(alarms) > 1 {
			t.Errorf("%s: a loop", name)
		}
	}
}

// Questions from beyond the network, and too many at once, get nothing: we are
// no amplifier.
func TestSec_A_DISC_04_NoAmplifier(t *testing.T) {
	r, _ := mute("m")
	n := &r.on[0]
	for addr, want := range map[string]bool{"10.0.0.9": true, "fe80::1%eth0": true, "169.254.1.1": true, "fd00::9": true, "10.0.1.9": false,
		"8.8.8.8": false, "2001:db8::1": false, "::ffff:10.0.0.9": true} {
		if got := n.onLink(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
	sent := 0
	for range 10_000 {
		if r.allowed.Allow() {
			sent++
		}
	}
	if sent > 200 {
		t.Errorf("%d answers", sent)
	}
}

func TestSec_A_DISC_04_FloodIsNoticed(t *testing.T) {
	r, alarms := mute("m")
	at := time.Unix(1000, 0)
	second := func(packets int) {
		for range packets {
			r.flooded(at)
		}
		at = at.Add(time.Second)
	}
	for range 20 {
		second(r.flood) // busy, but bearable
	}
	second(10 * r.flood) // a burst
	second(1)
	for range floodSeconds {
		second(2 * r.flood)
	}
	if len(alarms) != 0 {
		t.Fatal("too early")
	}
	second(1)
	if len(alarms) != 1 || <-alarms != flood {
		t.Error("not noticed")
	}
}

// What a sweep remembers is bounded, whatever is shouted.
func TestSec_A_DISC_04_SweepIsBounded(t *testing.T) {
	round := collection{all: map[string]Gateway{}}
	for i := range 50 * maxGateways {
		e := zeroconf.NewServiceEntry(numbered("fake", i), Service, "local")
		e.Port = 1
		round.take(e)
	}
	if len(round.all) != maxGateways {
		t.Errorf("%d gateways are remembered", len(round.all))
	}
}

// FuzzPackets: whatever arrives, nothing breaks, and our name is not given up
// for nothing.
func FuzzPackets(f *testing.F) {
	r, _ := mute("m")
	m := message()
	m.Answer = []dns.RR{r.pointer(0)}
	m.Answer = append(m.Answer, r.where(1, 2, 0)...)
	b, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	q := &dns.Msg{Question: []dns.Question{{Name: r.host, Qtype: dns.TypeANY, Qclass: 1 | flushBit}}}
	if b, err = q.Pack(); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1}) // a name that points at itself
	f.Fuzz(func(t *testing.T, packet []byte) {
		r, _ := mute("m")
		for _, from := range []int{port, 9} {
			r.handle(packet, 2, &net.UDPAddr{IP: net.IPv4(10, 0, 0, 9), Port: from})
		}
	})
}

// FuzzNames: what others call themselves is safe to show and fits.
func FuzzNames(f *testing.F) {
	f.Add("Anna's Mac (v1.2)", `k=C:\\x`)
	f.Add(`\000\027[31m`, `\255\254=\1`)
	f.Fuzz(func(t *testing.T, name, text string) {
		n := CleanName(unescape(name))
		if len(n) > maxLabel || !utf8.ValidString(n) || strings.ContainsAny(n, "\x00\x1b\n\r") {
			t.Errorf("%q", n)
		}
		for k, v := range decodeText([]string{text}) {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				t.Errorf("%q=%q", k, v)
			}
		}
	})
}
