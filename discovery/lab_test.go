//go:build linux

package discovery

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"

	"github.com/hearth-assistant/hearth/internal/netlab"
)

// The acceptance test of this package: machines with switches between them,
// Avahi as a Bonjour that nobody here wrote, and this test binary as gateway,
// browser and attacker. It takes minutes, so it runs with HEARTH_LAB=1 only;
// build/test --only lab does, with the race detector in every process.

// role is what this binary is when the lab starts it.
const (
	role  = "HEARTH_DISCOVERY_ROLE"
	lines = "HEARTH_DISCOVERY_LINES" // its arguments
)

// TestRole is what the lab's processes run.
func TestRole(t *testing.T) {
	play := map[string]func(context.Context, []string){"advertise": playAdvertise, "browse": playBrowse, "sweep": playSweep, "ask": playAsk,
		"flood": playFlood, "goodbye": playGoodbye}[os.Getenv(role)]
	if play == nil {
		t.Skip("only the lab's processes run this")
	}
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	defer stop()
	play(ctx, strings.Split(os.Getenv(lines), "\n"))
}

func words(s string) map[string]string {
	m := map[string]string{}
	for p := range strings.SplitSeq(s, ",") {
		if k, v, ok := strings.Cut(p, "="); ok {
			m[k] = v
		}
	}
	return m
}

// playAdvertise NAME PORT ID TEXT [FILE [FLOOD]]: lines of the file are new
// texts, and so many packets a second are an attack.
func playAdvertise(ctx context.Context, args []string) {
	port, _ := strconv.Atoi(args[1])
	flood := 0
	if len(args) > 5 {
		flood, _ = strconv.Atoi(args[5])
	}
	a, err := New(Options{Name: args[0], Port: port, ID: args[2], Text: words(args[3]), Interval: 2 * time.Second, QuietTime: 20 * time.Second,
		Flood:   flood,
		OnState: func(s State) { fmt.Printf("state %+v\n", s) }})
	if err != nil {
		fmt.Println("ERR", err)
		os.Exit(3)
	}
	if len(args) > 4 {
		go func() {
			f, err := os.Open(args[4])
			if err != nil {
				return
			}
			for in := bufio.NewScanner(f); in.Scan(); {
				fmt.Println("text", a.SetText(words(in.Text())))
			}
		}()
	}
	a.Run(ctx)
	fmt.Println("ended")
}

func (g Gateway) print(op string, since time.Time) {
	fmt.Printf("%s %dms %q %s:%d %v %v\n", op, time.Since(since).Milliseconds(), g.Name, g.Host, g.Port, g.Addrs, g.Text)
}

// playBrowse SECONDS.
func playBrowse(ctx context.Context, args []string) {
	s, _ := strconv.Atoi(args[0])
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s)*time.Second)
	defer cancel()
	start := time.Now()
	Browse(ctx, 5*time.Second, func(c Change, g Gateway) {
		g.print(map[Change]string{Added: "+", Updated: "~", Removed: "-"}[c], start)
	})
}

// playSweep: one round of 2 s.
func playSweep(ctx context.Context, _ []string) {
	start := time.Now()
	Sweep(ctx, 2*time.Second, func(g Gateway) { g.print("first", start) })
	for _, g := range Sweep(ctx, 2*time.Second, nil) {
		g.print("+", start)
	}
}

// playAsk NAME TYPE [legacy|qu]: prints the records of all answers.
func playAsk(_ context.Context, args []string) {
	m := new(dns.Msg)
	kind := dns.StringToType[args[1]]
	m.Question = []dns.Question{{Name: args[0], Qtype: kind, Qclass: dns.ClassINET}}
	mode := strings.Join(args[2:], "")
	local := &net.UDPAddr{IP: net.IPv4(224, 0, 0, 0), Port: port}
	if mode == "legacy" {
		m.Id, local = 4711, &net.UDPAddr{IP: net.IPv4zero}
	}
	if mode == "qu" {
		m.Question[0].Qclass |= flushBit
	}
	c, err := net.ListenUDP("udp4", local)
	if err != nil {
		fmt.Println("ERR", err)
		return
	}
	p := ipv4.NewPacketConn(c)
	ni, _ := net.InterfaceByName("eth0")
	_ = p.SetMulticastInterface(ni)
	_ = p.JoinGroup(ni, group4())
	_ = p.SetMulticastLoopback(false)
	b, _ := m.Pack()
	_, _ = p.WriteTo(b, nil, group4())
	_ = c.SetReadDeadline(time.Now().Add(1500 * time.Millisecond))
	for b := make([]byte, 9000); ; {
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		var in dns.Msg
		if in.Unpack(b[:n]) != nil || !in.Response {
			continue
		}
		for _, rr := range append(in.Answer, in.Extra...) {
			fmt.Println(strings.ReplaceAll(rr.String(), "\t", " "))
		}
	}
}

func shout(m *dns.Msg) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 0), Port: port})
	if err != nil {
		fmt.Println("ERR", err)
		return
	}
	defer c.Close()
	p := ipv4.NewPacketConn(c)
	ni, _ := net.InterfaceByName("eth0")
	_ = p.SetMulticastInterface(ni)
	b, _ := m.Pack()
	_, _ = p.WriteTo(b, nil, group4())
}

// playGoodbye NAME: says that another one's service is gone.
func playGoodbye(_ context.Context, args []string) {
	m := message()
	m.Answer = []dns.RR{&dns.PTR{Hdr: header(Service+".local.", dns.TypePTR, dns.ClassINET, 0), Ptr: escapeLabel(args[0]) + "." + Service +
		".local."}}
	shout(m)
}

// playFlood COUNT PER-SECOND (0: as fast as it goes): invents services.
func playFlood(ctx context.Context, args []string) {
	count, _ := strconv.Atoi(args[0])
	perSecond, _ := strconv.Atoi(args[1])
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 0), Port: port})
	if err != nil {
		fmt.Println("ERR", err)
		return
	}
	p := ipv4.NewPacketConn(c)
	ni, _ := net.InterfaceByName("eth0")
	_ = p.SetMulticastInterface(ni)
	start := time.Now()
	for i := 0; i < count && ctx.Err() == nil; i++ {
		name := fmt.Sprintf("fake%d.%s.local.", i, Service)
		m := message()
		m.Answer = []dns.RR{
			&dns.PTR{Hdr: header(Service+".local.", dns.TypePTR, dns.ClassINET, longLife), Ptr: name},
			&dns.SRV{Hdr: header(name, dns.TypeSRV, dns.ClassINET, shortLife), Port: 1, Target: "fake.local."},
			&dns.A{Hdr: header("fake.local.", dns.TypeA, dns.ClassINET, shortLife), A: net.IPv4(10, 77, 0, 99)},
		}
		b, _ := m.Pack()
		_, _ = p.WriteTo(b, nil, group4())
		if perSecond > 0 && i%100 == 99 {
			<-time.After(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		}
	}
}

// actors starts this binary in its roles.
type actors struct {
	*netlab.Lab
	t   *testing.T
	exe string
}

func playing(part string, args []string) []string {
	return []string{role + "=" + part, lines + "=" + strings.Join(args, "\n")}
}

func alone() []string { return []string{"-test.run=^TestRole$", "-test.timeout=0"} }

func (a *actors) start(h *netlab.Host, part string, args ...string) *netlab.Process {
	return h.Person().Start(playing(part, args), a.exe, alone()...)
}

func (a *actors) run(h *netlab.Host, part string, args ...string) string {
	ctx, cancel := context.WithTimeout(a.t.Context(), 2*netlab.Patience)
	defer cancel()
	c := h.Person().Command(ctx, a.exe, alone()...)
	c.Env = append(c.Env, playing(part, args)...)
	out, err := c.CombinedOutput()
	if err != nil {
		a.t.Errorf("%s %v: %v: %s", part, args, err, out)
	}
	a.healthy(part, string(out))
	return strings.TrimSuffix(string(out), "PASS\n")
}

// answer asks until a text is in the answer: a busy machine answers late, and a
// question waits for 1.5 s only.
func (a *actors) answer(h *netlab.Host, has string, question ...string) (out string) {
	netlab.Wait(netlab.Patience, func() bool {
		out = a.run(h, "ask", question...)
		return strings.Contains(out, has)
	})
	return out
}

func (a *actors) answers(h *netlab.Host, has string, question ...string) bool {
	return strings.Contains(a.answer(h, has, question...), has)
}

// sweeps tells that a gateway of that name is found, of several sweeps by one.
func (a *actors) sweeps(h *netlab.Host, name string) bool {
	return netlab.Wait(netlab.Patience, func() bool { return strings.Contains(a.run(h, "sweep"), name) })
}

// healthy: check 38, of every process.
func (a *actors) healthy(what, out string) {
	if strings.Contains(out, "DATA RACE") || strings.Contains(out, "panic:") || strings.Contains(out, "goroutine 1 [") {
		a.t.Errorf("%s: %s", what, out)
	}
}

func avahi(h *netlab.Host) string {
	return h.Output(netlab.Patience, "avahi-browse", "-r", "-p", "-t", Service)
}

// resolved are the lines of avahi-browse about one family that hold all words.
func resolved(out, family string, want ...string) (n int) {
	for line := range strings.SplitSeq(out, "\n") {
		ok := strings.HasPrefix(line, "=") && strings.Contains(line, ";"+family+";")
		for _, w := range want {
			ok = ok && strings.Contains(line, w)
		}
		if ok {
			n++
		}
	}
	return n
}

const (
	enumerate = Service + ".local."
	ids       = "aaaaaaaaaaaa1111"
)

func newActors(t *testing.T) *actors {
	t.Helper()
	if os.Getenv("HEARTH_LAB") == "" {
		t.Skip("the network lab takes minutes: set HEARTH_LAB=1, as build/test --only lab does")
	}
	t.Parallel() // each lab has a network of its own
	exe, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return &actors{Lab: netlab.New(t, "avahi-daemon", "avahi-browse", "avahi-resolve", "dbus-daemon", "nft"), t: t, exe: exe}
}

func (a *actors) host(i int) *netlab.Host {
	h := a.Host("h" + strconv.Itoa(i))
	h.Plug("eth0", "br0", fmt.Sprintf("10.77.0.%d/24", i), fmt.Sprintf("fd77::%d/64", i))
	return h
}

// gone waits until a process that advertises is announced as name.
func (a *actors) announced(p *netlab.Process, name string) {
	a.t.Helper()
	a.Until(netlab.Patience, name+" is announced", func() bool { return strings.Contains(p.Output(), "Phase:announced Name:"+name) })
}

func (a *actors) check(what string, ok bool, more ...any) {
	a.t.Helper()
	if ok {
		a.t.Log("ok", what)
		return
	}
	a.t.Errorf("FAILED %s %v", what, more)
}

func TestLabAnnouncement(t *testing.T) {
	a := newActors(t)
	h1, h2, h3, h4 := a.host(1), a.host(2), a.host(3), a.host(4)
	h1.Plug("eth1", "br1", "10.88.0.1/24", "fd88::1/64")
	h1.IP("link", "add", "docker0", "type", "bridge")
	h1.IP("link", "set", "docker0", "up")
	h1.IP("addr", "add", "172.17.0.1/16", "dev", "docker0")
	h5 := a.Host("h5")
	h5.Plug("eth0", "br1", "10.88.0.5/24", "fd88::5/64")
	h3.Avahi()
	long := h3.Start(nil, "stdbuf", "-oL", "avahi-browse", "-p", Service)
	browser := a.start(h4, "browse", "300")
	fifo := filepath.Join(t.TempDir(), "text")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}

	const name, text = "Anna's Mac (v1.2)", `role=gateway,state=one,path=C:\Users\100\x,u=Büro`
	start := time.Now()
	adv := a.start(h1, "advertise", name, "18789", ids, text, fifo)
	saw := netlab.Wait(netlab.Patience, func() bool { return strings.Contains(long.Output(), "+;") })
	a.check("01 avahi sees the announcement", saw, time.Since(start))
	t.Logf("avahi saw it after %s", time.Since(start).Round(10*time.Millisecond))
	a.check("02 a browser that runs reports it", netlab.Wait(netlab.Patience, func() bool {
		return strings.Contains(browser.Output(), "+ ") && strings.Contains(browser.Output(), "Anna")
	}), browser.Output())
	var swept string
	a.check("03 a sweep finds it", netlab.Wait(netlab.Patience, func() bool {
		swept = a.run(h2, "sweep")
		first := regexp.MustCompile(`first (\d+)ms .*Anna`).FindStringSubmatch(swept)
		if first != nil {
			t.Logf("a sweep found it after %s ms", first[1])
		}
		return first != nil && strings.Contains(swept, "+ ")
	}), swept)
	var out string
	a.check("04 avahi resolves to the address of that network", netlab.Wait(netlab.Patience, func() bool {
		out = avahi(h3)
		return resolved(out, "IPv4", ";10.77.0.1;18789;") > 0
	}), out)
	other := a.answer(h5, "A 10.88.0.1", enumerate, "PTR")
	a.check("05 the other network gets only its own addresses", strings.Contains(other, "A 10.88.0.1") && !strings.Contains(other, "10.77.") &&
		!strings.Contains(other, "172.17."), other)
	a.check("06 texts arrive byte by byte", strings.Contains(out, `C:\\Users\\100\\x`) && strings.Contains(out, `B\195\188ro`) ||
		strings.Contains(swept, `C:\Users\100\x`) && strings.Contains(swept, "Büro"), out, swept)
	a.check("06 as avahi reads them", strings.Contains(out, "Users"), out)
	host := HostName(ids) + "."
	a.check("07 the host's IPv4 address", a.answers(h2, "A 10.77.0.1", host, "A"))
	a.check("08 the host's IPv6 address", a.answers(h2, "fd77::1", host, "AAAA"))
	instance := escapeLabel(name) + "." + enumerate
	a.check("09 a name with blanks, quotes, brackets and a dot", a.answers(h2, " SRV ", instance, "SRV"))
	a.check("10 letter case", a.answers(h2, " PTR ", "_OpenClaw-GW._tcp.local.", "PTR"))
	a.check("11 one-shot questions", a.answers(h2, " PTR ", enumerate, "PTR", "legacy"))
	a.check("12 questions that want the answer alone", a.answers(h2, " PTR ", enumerate, "PTR", "qu"))
	a.check("13 the list of kinds of service", a.answers(h2, " PTR ", "_services._dns-sd._udp.local.", "PTR"))
	a.check("14 seen from the same machine", a.sweeps(h1, "Anna"))

	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintln(w, "role=gateway,state=two")
	_ = w.Close()
	a.check("15 another text reaches avahi", netlab.Wait(netlab.Patience, func() bool { return strings.Contains(avahi(h3), "state=two") }))
	a.check("16 and a browser that runs", netlab.Wait(netlab.Patience, func() bool { return strings.Contains(browser.Output(), "state:two") }),
		browser.Output())

	adv2 := a.start(h2, "advertise", name, "18790", "bbbbbbbbbbbb2222", "n=second")
	a.check("17 a second gateway of that name gets its own",
		netlab.Wait(netlab.Patience, func() bool { return resolved(avahi(h3), "IPv4", "Anna") == 2 }), avahi(h3))
	before := strings.Count(long.Output(), "-;")
	adv2.Stop()
	a.check("18 a goodbye removes it", netlab.Wait(netlab.Patience, func() bool { return strings.Count(long.Output(), "-;") > before }))
	a.check("19 and not the first one", netlab.Wait(netlab.Patience, func() bool {
		out = avahi(h3)
		return resolved(out, "IPv4", ";10.77.0.1;18789;") == 1
	}), out)
	adv.Stop()
	a.healthy("advertise", adv.Output()+adv2.Output()+browser.Output())

	twinA := a.start(h1, "advertise", "Twin", "18789", ids, "n=1")
	twinB := a.start(h2, "advertise", "Twin", "18790", "bbbbbbbbbbbb2222", "n=2")
	a.check("20 two that start at the same moment stay visible",
		netlab.Wait(netlab.Patience, func() bool { return resolved(avahi(h3), "IPv4", "Twin") == 2 }), avahi(h3), twinA.Output(), twinB.Output())
	a.run(h4, "goodbye", "Twin")
	a.check("21 a forged goodbye does not make it stay away",
		netlab.Wait(netlab.Patience, func() bool { return resolved(avahi(h3), "IPv4", ";Twin;") == 1 }), avahi(h3))
	twinA.Stop()
	twinB.Stop()
	a.healthy("advertise", twinA.Output()+twinB.Output())
	if strings.Count(twinA.Output()+twinB.Output(), "Phase:announced") > 6 {
		t.Errorf("they keep renaming: %s\n%s", twinA.Output(), twinB.Output())
	}
}

func TestLabBesideAvahi(t *testing.T) {
	a := newActors(t)
	h1, h2, h3 := a.host(1), a.host(2), a.host(3)
	h3.Avahi()
	own := h1.Avahi()
	one := a.start(h1, "advertise", "one", "18789", "cccccccc0001", "")
	two := a.start(h1, "advertise", "two", "18790", "cccccccc0002", "")
	a.check("22 two beside avahi-daemon", netlab.Wait(netlab.Patience, func() bool {
		out := avahi(h3)
		return resolved(out, "IPv4", ";one;", ";10.77.0.1;18789;") == 1 && resolved(out, "IPv4", ";two;", ";10.77.0.1;18790;") == 1
	}), avahi(h3))
	a.check("23 avahi keeps its own host name", !strings.Contains(strings.ToLower(own.Output()), "conflict"), own.Output())
	one.Stop()
	host := HostName("cccccccc0002")
	a.check("24 stopping one leaves the other's host", netlab.Wait(netlab.Patience, func() bool {
		return strings.Contains(h3.Output(netlab.Patience, "avahi-resolve", "-4", "-n", host), "10.77.0.1")
	}))
	a.check("25 and the machine's", netlab.Wait(netlab.Patience, func() bool {
		return strings.Contains(h3.Output(netlab.Patience, "avahi-resolve", "-4", "-n", "gw-h1.local"), "10.77.")
	}))
	two.Stop()
	a.healthy("advertise", one.Output()+two.Output())
	_ = h2
}

func TestLabChangingNetworks(t *testing.T) {
	a := newActors(t)
	h1, h2, h3, h4 := a.host(1), a.host(2), a.host(3), a.host(4)
	h3.Avahi()
	browser := a.start(h4, "browse", "300")
	adv := a.start(h1, "advertise", "roam", "18789", "dddddddd0001", "")
	a.announced(adv, "roam")
	h1.IP("addr", "del", "10.77.0.1/24", "dev", "eth0")
	h1.IP("addr", "add", "10.77.0.111/24", "dev", "eth0")
	a.check("26 another address is announced", netlab.Wait(netlab.Patience, func() bool {
		out := a.run(h2, "ask", enumerate, "PTR")
		return strings.Contains(out, "A 10.77.0.111") && !strings.Contains(out, "A 10.77.0.1\n")
	}))
	a.check("27 and avahi resolves to it",
		netlab.Wait(netlab.Patience, func() bool { return resolved(avahi(h3), "IPv4", ";roam;", ";10.77.0.111;") == 1 }), avahi(h3))
	h1.IP("link", "del", "eth0")
	a.Until(netlab.Patience, "it notices that the network is gone", func() bool { return strings.Contains(adv.Output(), "Phase:no-network") })
	h1.Plug("eth0", "br0", "10.77.0.1/24", "fd77::1/64")
	a.check("28 an interface that was taken away and comes back", netlab.Wait(netlab.Patience, func() bool {
		return strings.Contains(a.run(h2, "ask", enumerate, "PTR"), "A 10.77.0.1\n")
	}))
	adv.Stop()

	h6 := a.Host("h6")
	wakes := a.start(h6, "advertise", "wakes", "18789", "eeeeeeee0001", "")
	a.Until(netlab.Patience, "it says that there is no network", func() bool { return strings.Contains(wakes.Output(), "Phase:no-network") })
	a.check("29 a start without a network", wakes.Lives(), wakes.Output())
	h6.Plug("eth0", "br0", "10.77.0.6/24", "fd77::6/64")
	a.check("30 and then it comes up",
		netlab.Wait(netlab.Patience, func() bool { return resolved(avahi(h3), "IPv4", ";wakes;", ";10.77.0.6;") == 1 }), avahi(h3))

	killed := a.start(h1, "advertise", "killed", "18789", "ffffffff0001", "")
	a.Until(netlab.Patience, "the browser sees it",
		func() bool { return regexp.MustCompile(`(?m)^\+ .*"killed"`).MatchString(browser.Output()) })
	killed.Kill()
	a.check("31 a browser drops one that was killed",
		netlab.Wait(netlab.Patience, func() bool { return regexp.MustCompile(`(?m)^- .*"killed"`).MatchString(browser.Output()) }),
		browser.Output())
	a.healthy("all", adv.Output()+wakes.Output()+killed.Output()+browser.Output())
}

func TestLabHostileNetworks(t *testing.T) {
	a := newActors(t)
	h1, h2, h3, h4, h6 := a.host(1), a.host(2), a.host(3), a.host(4), a.host(6)
	h3.Avahi()
	wakes := a.start(h6, "advertise", "wakes", "18789", "eeeeeeee0001", "")
	a.announced(wakes, "wakes")
	h2.Firewall(100)
	a.check("32 a firewall in front of a browser: nothing, and no error", strings.Count(a.run(h2, "sweep"), "+ ") == 0)
	h2.Output(netlab.Patience, "nft", "flush", "ruleset")
	h2.Output(netlab.Patience, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
	a.check("33 a browser without IPv6", a.sweeps(h2, "wakes"))
	h7 := a.Host("h7")
	a.check("34 a browser without a network: nothing, and no error", a.run(h7, "sweep") == "")

	h2.Firewall(50)
	h6.Firewall(50)
	lossy := a.start(h2, "browse", "300")
	a.check("35 half of all packets lost, both ways: it is found",
		netlab.Wait(netlab.Patience, func() bool { return regexp.MustCompile(`(?m)^\+ .*wakes`).MatchString(lossy.Output()) }), lossy.Output())
	lossy.Stop()
	h2.Output(netlab.Patience, "nft", "flush", "ruleset")
	h6.Output(netlab.Patience, "nft", "flush", "ruleset")

	browser := a.start(h1, "browse", "300")
	a.Until(netlab.Patience, "the browser works", func() bool { return strings.Contains(browser.Output(), "wakes") })
	a.run(h4, "flood", "20000", "0")
	a.check("36 20000 invented services: the browser lives and is not drowned", browser.Lives() &&
		strings.Count(browser.Output(), "\n") < 1000, len(browser.Output()))
	browser.Stop()
	wakes.Stop()

	long := a.start(h1, "advertise", "longlived", "18789", "99999999aaaa", "")
	a.announced(long, "longlived")
	host := HostName("99999999aaaa")
	a.Until(netlab.Patience, "avahi knows the host", func() bool {
		return strings.Contains(h3.Output(netlab.Patience, "avahi-resolve", "-4", "-n", host), "10.77.")
	})
	// Avahi forgets after two minutes what it heard, and then has to ask. One that
	// starts now never heard it.
	h4.Avahi()
	a.check("37 the host name resolves for who never heard the announcement, or forgot it", netlab.Wait(netlab.Patience, func() bool {
		return strings.Contains(h4.Output(netlab.Patience, "avahi-resolve", "-4", "-n", host), "10.77.")
	}))
	a.healthy("all, 38", wakes.Output()+browser.Output()+lossy.Output()+long.Output())
}

// A flood that does not end costs next to nothing, and the gateway comes back
// after it.
func TestSec_A_DISC_04_Flood(t *testing.T) {
	a := newActors(t)
	h1, h2 := a.host(1), a.host(2)
	// What comes through on a busy machine is far less than what is sent.
	adv := a.start(h1, "advertise", "calm", "18789", ids, "", "", "200")
	a.announced(adv, "calm")
	flood := a.start(h2, "flood", "10000000", "10000")
	a.Until(netlab.Patience, "it falls silent", func() bool { return strings.Contains(adv.Output(), "Phase:quiet") })
	before := ticks(adv.PID())
	<-time.After(5 * time.Second)
	if used := ticks(adv.PID()) - before; used > 25 { // of 500
		t.Errorf("in a flood of 10000 packets a second it uses %d %% of a processor", used/5)
	}
	flood.Stop()
	a.Until(3*netlab.Patience, "it is there again", func() bool { return strings.Count(adv.Output(), "Phase:announced") > 1 })
	a.healthy("advertise", adv.Output())
}

// ticks is the processor time of a process in hundredths of a second.
func ticks(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}
