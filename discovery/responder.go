package discovery

import (
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/time/rate"
)

const (
	port = 5353
	// How long others may remember: addresses and where the service is may
	// change, its name does not.
	shortLife  = 120
	longLife   = 4500
	legacyLife = 10
	flushBit   = 1 << 15 // "forget what you knew", and in questions "answer only me"

	maxQuestions = 32
	floodSeconds = 3
)

func group4() *net.UDPAddr { return &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: port} }
func group6() *net.UDPAddr { return &net.UDPAddr{IP: net.ParseIP("ff02::fb"), Port: port} }

// responder answers what the library beside it does not: for the addresses of
// our host name, probes (so that others with our name give way), questions in
// other letter case and one-shot questions from other ports. It watches for
// others who use our name, and for floods.
type responder struct {
	host, service, instance string // as the DNS library prints names
	port                    uint16
	flood                   int
	alarms                  chan<- alarm
	c4                      *ipv4.PacketConn
	c6                      *ipv6.PacketConn
	readers                 sync.WaitGroup
	allowed                 *rate.Limiter // of answers: we are no amplifier

	mu      sync.Mutex // guards all below
	text    []string
	on      []Interface
	closed  bool
	deaf    bool      // to what others say of our name
	spoke   time.Time // when we last defended it
	second  int64     // that packets counts
	packets int
	heavy   int // such seconds in a row
}

func newResponder(o Options, name string, text []string, on []Interface, alarms chan<- alarm) *responder {
	r := &responder{
		host: hostLabel(o.ID) + ".local.", service: Service + ".local.", instance: escapeLabel(name) + "." + Service + ".local.",
		port: uint16(o.Port), flood: o.Flood, alarms: alarms, text: text, on: on, allowed: rate.NewLimiter(50, 100),
	}
	// On Windows, options of single packets do not exist; what fails there is
	// made up for in send.
	if l, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 0), Port: port}); err == nil {
		r.c4 = ipv4.NewPacketConn(l)
		_ = r.c4.SetControlMessage(ipv4.FlagInterface, true)
		_ = r.c4.SetMulticastTTL(255)
		_ = r.c4.SetMulticastLoopback(true)
	}
	if l, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.ParseIP("ff02::"), Port: port}); err == nil {
		r.c6 = ipv6.NewPacketConn(l)
		_ = r.c6.SetControlMessage(ipv6.FlagInterface, true)
		_ = r.c6.SetMulticastHopLimit(255)
		_ = r.c6.SetMulticastLoopback(true)
	}
	r.join(on)
	if r.c4 != nil {
		r.readers.Go(func() {
			r.listen(func(b []byte) (int, int, net.Addr, error) {
				n, cm, from, err := r.c4.ReadFrom(b)
				if cm == nil {
					cm = &ipv4.ControlMessage{}
				}
				return n, cm.IfIndex, from, err
			})
		})
	}
	if r.c6 != nil {
		r.readers.Go(func() {
			r.listen(func(b []byte) (int, int, net.Addr, error) {
				n, cm, from, err := r.c6.ReadFrom(b)
				if cm == nil {
					cm = &ipv6.ControlMessage{}
				}
				return n, cm.IfIndex, from, err
			})
		})
	}
	return r
}

// join enters the groups; one that we are in already is an error without
// meaning.
func (r *responder) join(on []Interface) {
	for i := range on {
		if r.c4 != nil {
			_ = r.c4.JoinGroup(&on[i].Interface, group4())
		}
		if r.c6 != nil {
			_ = r.c6.JoinGroup(&on[i].Interface, group6())
		}
	}
}

func (r *responder) update(on []Interface, text []string) {
	r.mu.Lock()
	r.on, r.text = on, text
	r.mu.Unlock()
	r.join(on)
}

// ignore makes it deaf to goodbyes while we say one ourselves: what we send
// comes back to us.
func (r *responder) ignore(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = yes
}

// close says goodbye for the host's addresses and waits for the readers.
func (r *responder) close() {
	r.mu.Lock()
	for i := range r.on {
		m := message()
		m.Answer = r.addresses(&r.on[i], 0, flushBit)
		r.multicast(m, &r.on[i])
	}
	r.closed = true
	r.mu.Unlock()
	if r.c4 != nil {
		_ = r.c4.Close()
	}
	if r.c6 != nil {
		_ = r.c6.Close()
	}
	r.readers.Wait()
}

// listen reads until the socket is closed. Errors of a network that went away
// come without end: between them it rests.
func (r *responder) listen(read func([]byte) (int, int, net.Addr, error)) {
	b := make([]byte, 9000)
	for {
		n, index, from, err := read(b)
		r.mu.Lock()
		closed := r.closed
		r.mu.Unlock()
		if closed {
			return
		}
		src, ok := from.(*net.UDPAddr)
		if err != nil || !ok {
			<-time.After(200 * time.Millisecond)
			continue
		}
		r.handle(b[:n], index, src)
	}
}

// handle looks at one packet of whoever is on the network.
func (r *responder) handle(packet []byte, index int, src *net.UDPAddr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.flooded(time.Now()) {
		return
	}
	var in dns.Msg
	if in.Unpack(packet) != nil || in.Opcode != 0 {
		return
	}
	if in.Response {
		if src.Port == port {
			r.watch(&in)
		}
		return
	}
	from, _ := netip.AddrFromSlice(src.IP)
	on := r.arrived(index, from)
	if on == nil || !on.onLink(from) || len(in.Question) > maxQuestions {
		return
	}
	out, alone := r.answer(&in, on, src.Port != port)
	switch {
	case out == nil || !r.allowed.Allow():
	case alone:
		r.unicast(out, on, src)
	default:
		r.multicast(out, on)
	}
}

// flooded counts packets. During a flood most are not even read.
func (r *responder) flooded(now time.Time) bool {
	if s := now.Unix(); s != r.second {
		if r.packets > r.flood && s == r.second+1 {
			r.heavy++
		} else {
			r.heavy = 0
		}
		r.second, r.packets = s, 0
		if r.heavy >= floodSeconds {
			r.heavy = 0
			r.alarm(flood)
		}
	}
	r.packets++
	return r.packets > r.flood
}

func (r *responder) alarm(a alarm) {
	select {
	case r.alarms <- a:
	default:
	}
}

// arrived finds the network that a packet came from: by the number of the
// interface or, where the system does not tell it, by the sender's address.
func (r *responder) arrived(index int, from netip.Addr) *Interface {
	for i := range r.on {
		n := &r.on[i]
		if n.Index == index || index == 0 && n.onLink(from) {
			return n
		}
	}
	return nil
}

// answer makes the answer to a question, nil if there is none from us; alone
// tells to send it to the asking one only.
func (r *responder) answer(in *dns.Msg, on *Interface, legacy bool) (out *dns.Msg, alone bool) {
	life, flush := uint32(shortLife), uint16(flushBit)
	long := uint32(longLife)
	if legacy {
		life, long, flush = legacyLife, legacyLife, 0
	}
	m := message()
	for _, q := range in.Question {
		all := q.Qtype == dns.TypeANY
		before := len(m.Answer)
		switch {
		case strings.EqualFold(q.Name, r.host) && (all || q.Qtype == dns.TypeA || q.Qtype == dns.TypeAAAA):
			m.Answer = append(m.Answer, r.addresses(on, life, flush)...)
		case strings.EqualFold(q.Name, r.instance) && (all || q.Qtype == dns.TypeSRV || q.Qtype == dns.TypeTXT):
			// The library answers this itself when it is spelled as it knows it.
			if all || legacy || q.Name != r.instance {
				m.Answer = append(m.Answer, r.where(life, long, flush)...)
				m.Extra = append(m.Extra, r.addresses(on, life, flush)...)
			}
		case strings.EqualFold(q.Name, r.service) && (all || q.Qtype == dns.TypePTR):
			if legacy || q.Name != r.service {
				m.Answer = append(m.Answer, r.pointer(long))
				m.Extra = append(append(m.Extra, r.where(life, long, flush)...), r.addresses(on, life, flush)...)
			}
		}
		alone = alone || len(m.Answer) > before && q.Qclass&flushBit != 0
	}
	if len(m.Answer) == 0 {
		return nil, false
	}
	if legacy {
		m.Id = in.Id
		for _, q := range in.Question {
			m.Question = append(m.Question, dns.Question{Name: q.Name, Qtype: q.Qtype, Qclass: q.Qclass &^ flushBit})
		}
	}
	m.Answer, m.Extra = dns.Dedup(m.Answer, nil), dns.Dedup(m.Extra, nil)
	return m, alone || legacy
}

func message() *dns.Msg {
	return &dns.Msg{MsgHdr: dns.MsgHdr{Response: true, Authoritative: true}, Compress: true}
}

func header(name string, kind, class uint16, life uint32) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: kind, Class: class, Ttl: life}
}

func (r *responder) pointer(life uint32) dns.RR {
	return &dns.PTR{Hdr: header(r.service, dns.TypePTR, dns.ClassINET, life), Ptr: r.instance}
}

// where says on which host and port we are, and the text.
func (r *responder) where(life, long uint32, flush uint16) []dns.RR {
	return []dns.RR{
		&dns.SRV{Hdr: header(r.instance, dns.TypeSRV, dns.ClassINET|flush, life), Port: r.port, Target: r.host},
		&dns.TXT{Hdr: header(r.instance, dns.TypeTXT, dns.ClassINET|flush, long), Txt: r.text},
	}
}

// addresses are those of one network: others lead nowhere from there.
func (r *responder) addresses(on *Interface, life uint32, flush uint16) (out []dns.RR) {
	for _, p := range on.V4 {
		out = append(out, &dns.A{Hdr: header(r.host, dns.TypeA, dns.ClassINET|flush, life), A: p.Addr().AsSlice()})
	}
	for _, p := range on.V6 {
		out = append(out, &dns.AAAA{Hdr: header(r.host, dns.TypeAAAA, dns.ClassINET|flush, life), AAAA: p.Addr().AsSlice()})
	}
	return out
}

// announce says everything, unasked, on every network.
func (r *responder) announce() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.announceLocked()
}

func (r *responder) announceLocked() {
	if r.closed {
		return
	}
	for i := range r.on {
		m := message()
		m.Answer = append(append([]dns.RR{r.pointer(longLife)}, r.where(shortLife, longLife, flushBit)...),
			r.addresses(&r.on[i], shortLife, flushBit)...)
		r.multicast(m, &r.on[i])
	}
}

// watch looks at what others say. A place for our name on another host is a
// conflict: of two, the one whose host name comes later in the alphabet gives
// way. A goodbye for our name that we did not say is answered by saying that we
// are there, at most once a second.
func (r *responder) watch(in *dns.Msg) {
	if r.deaf {
		return
	}
	defend, give := false, false
	for _, l := range [][]dns.RR{in.Answer, in.Extra} {
		for _, rr := range l {
			switch b := rr.(type) {
			case *dns.SRV:
				if !strings.EqualFold(b.Hdr.Name, r.instance) {
					continue
				}
				target := strings.ToLower(b.Target)
				give = give || b.Hdr.Ttl != 0 && target < r.host
				defend = defend || b.Hdr.Ttl == 0 || target != r.host
			case *dns.PTR:
				defend = defend || b.Hdr.Ttl == 0 && strings.EqualFold(b.Hdr.Name, r.service) && strings.EqualFold(b.Ptr, r.instance)
			}
		}
	}
	now := time.Now()
	if !defend && !give || now.Sub(r.spoke) < time.Second {
		return
	}
	r.spoke = now
	if give {
		r.alarm(lost)
		return
	}
	r.announceLocked()
}

func (r *responder) unicast(m *dns.Msg, on *Interface, to *net.UDPAddr) {
	b, err := m.Pack()
	if err != nil {
		return
	}
	if to.IP.To4() != nil && r.c4 != nil {
		_, _ = r.c4.WriteTo(b, &ipv4.ControlMessage{IfIndex: on.Index}, to)
	} else if r.c6 != nil {
		_, _ = r.c6.WriteTo(b, &ipv6.ControlMessage{IfIndex: on.Index}, to)
	}
}

// multicast sends on one network. What cannot be sent was said to a network
// that is not there any more.
func (r *responder) multicast(m *dns.Msg, on *Interface) {
	b, err := m.Pack()
	if err != nil {
		return
	}
	if r.c4 != nil && len(on.V4) > 0 {
		if runtime.GOOS == "windows" {
			_ = r.c4.SetMulticastInterface(&on.Interface)
		}
		_, _ = r.c4.WriteTo(b, &ipv4.ControlMessage{IfIndex: on.Index}, group4())
	}
	if r.c6 != nil {
		if runtime.GOOS == "windows" {
			_ = r.c6.SetMulticastInterface(&on.Interface)
		}
		_, _ = r.c6.WriteTo(b, &ipv6.ControlMessage{IfIndex: on.Index}, group6())
	}
}
