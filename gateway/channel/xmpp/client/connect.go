package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mellium.im/sasl"
	mellium "mellium.im/xmpp"
	"mellium.im/xmpp/jid"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

const (
	connectTime   = 40 * time.Second // until we are logged in
	greetingBytes = 1 << 20          // that a server may need for it
	stanzaBytes   = 1 << 20          // that one stanza may have
	mostServers   = 6                // of the name service that are tried
)

// server is where to connect.
type server struct {
	address string
	direct  bool // encrypted from the first byte
}

// servers are those of the account, in the order in which they are tried.
func (c *Client) servers(ctx context.Context) (out []server) {
	if c.host != "" || c.port != "" {
		port := cmp.Or(c.port, "5222")
		return []server{{net.JoinHostPort(cmp.Or(c.host, c.domain), port), port == "5223"}}
	}
	for _, kind := range []string{"xmpps-client", "xmpp-client"} {
		_, list, err := net.DefaultResolver.LookupSRV(ctx, kind, "tcp", c.domain)
		if err != nil {
			continue
		}
		for _, s := range list {
			host := strings.TrimSuffix(s.Target, ".")
			if host == "" || len(out) >= mostServers {
				continue
			}
			out = append(out, server{net.JoinHostPort(host, strconv.Itoa(int(s.Port))), kind == "xmpps-client"})
		}
	}
	return append(out, server{net.JoinHostPort(c.domain, "5222"), false})
}

// connect connects and logs in.
func (c *Client) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	var why error
	for _, s := range c.servers(ctx) {
		l, err := c.enterServer(ctx, s)
		if err == nil {
			return l, nil
		}
		if errors.Is(err, channel.ErrAuth) {
			return nil, err
		}
		why = errors.Join(why, err)
	}
	return nil, why
}

// enterServer logs in at one server.
func (c *Client) enterServer(ctx context.Context, s server) (_ *link, err error) {
	raw, err := egress.DialNamed(ctx, s.address)
	if err != nil {
		return nil, err
	}
	conn := &bounded{Conn: raw}
	conn.left.Store(greetingBytes)
	defer func() {
		if err != nil {
			_ = raw.Close()
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Now()) })()
	self, err := jid.Parse(c.address)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is no address: %w", channel.ErrAuth, c.address, err)
	}
	conf := &tls.Config{ServerName: c.domain, MinVersion: tls.VersionTLS12, RootCAs: c.roots}
	ways := []sasl.Mechanism{sasl.ScramSha256Plus, sasl.ScramSha1Plus, sasl.ScramSha256, sasl.ScramSha1, sasl.Plain}
	features := []mellium.StreamFeature{mellium.SASL("", c.password, ways...), mellium.BindResource()}
	state := mellium.SessionState(0)
	var over net.Conn = conn
	switch {
	case !c.secure:
		state = mellium.Secure // it is this computer
	case s.direct:
		conf.NextProtos = []string{"xmpp-client"}
		over, state = tls.Client(conn, conf), mellium.Secure
	default:
		features = append(features, mellium.StartTLS(conf))
	}
	session, err := mellium.NewSession(ctx, self.Domain(), self, over, state, mellium.NewNegotiator(
		func(*mellium.Session, *mellium.StreamConfig) mellium.StreamConfig {
			return mellium.StreamConfig{Features: features}
		}))
	if err != nil {
		return nil, c.rejected(s.address, err)
	}
	if c.secure && session.State()&mellium.Secure == 0 {
		return nil, fmt.Errorf("%s does not encrypt the connection", s.address)
	}
	l := newLink(c, session, conn)
	l.near = near(raw.RemoteAddr())
	if err := l.begin(); err != nil {
		return nil, err
	}
	return l, nil
}

// finalReasons are those for which a server does not let an account in, whatever
// happens later.
var finalReasons = []string{"not-authorized", "account-disabled", "credentials-expired", "invalid-authzid", "invalid-mechanism"}

// rejected says what it means that a session was not made.
func (c *Client) rejected(address string, err error) error {
	var said interface {
		error
		TokenReader() xml.TokenReader
	}
	if errors.As(err, &said) {
		r := said.TokenReader()
		for {
			tok, end := r.Token()
			if start, ok := tok.(xml.StartElement); ok {
				for _, reason := range finalReasons {
					if start.Name.Local == reason {
						return fmt.Errorf("%w: %s did not let %s in (%s). Check address and password", channel.ErrAuth, address, c.address, reason)
					}
				}
			}
			if end != nil {
				break
			}
		}
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return errors.New(c.unproven(address, certificate.Err))
	}
	return fmt.Errorf("%s: %w", address, err)
}

// unproven says why the certificate of a server does not prove that it is the account's.
func (c *Client) unproven(address string, err error) string {
	var (
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
	)
	switch {
	case errors.As(err, &host):
		return fmt.Sprintf("the certificate of %s is for another name than %s, so nothing was sent. Check the server's name and port in the "+
			"settings, or ask who runs it for a certificate for %s", address, c.domain, c.domain)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s does not hold today: it has ended, or this computer's clock is wrong. Nothing was sent. "+
			"Check the clock, or ask who runs the server to renew it", address)
	case errors.As(err, &unknown):
		return fmt.Sprintf("nobody that this computer trusts vouches for the certificate of %s, so nothing was sent. If the server is your "+
			"own, add the certificate of its authority to this computer's, or get one from a public authority", address)
	}
	return fmt.Sprintf("the certificate of %s is not valid, so nothing was sent. Ask who runs the server for a valid one", address)
}

// near reports whether an address is this computer's or its network's.
func near(at net.Addr) bool {
	a, err := netip.ParseAddrPort(at.String())
	if err != nil {
		return false
	}
	ip := a.Addr().Unmap()
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}

// bounded is a connection from which only so much is read.
type bounded struct {
	net.Conn
	left atomic.Int64
}

var errTooMuch = errors.New("the server sent more than one stanza may have")

func (b *bounded) Read(p []byte) (int, error) {
	left := b.left.Load()
	if left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), left)])
	b.left.Add(-int64(n))
	return n, err
}
