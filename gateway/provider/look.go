package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const noAddress = "This is no address of a server. It looks like http://192.168.1.20:8000 or https://models.example.org/v1."

// lookTime is how long a server that somebody names may take to say what it has.
const lookTime = 12 * time.Second

// Why a server that somebody names cannot be used; clients have words for each.
const (
	LookAddress = "SERVER_ADDRESS"   // this is no address of a server
	LookAbsent  = "SERVER_ABSENT"    // nobody answers there
	LookCert    = "SERVER_CERT"      // who answers cannot prove who it is
	LookPlain   = "SERVER_PLAIN"     // it speaks http, not https, or the other way round
	LookOther   = "SERVER_OTHER"     // something answers, but no server of models
	LookKey     = "SERVER_KEY"       // it wants a key, or another one
	LookEmpty   = "SERVER_NO_MODELS" // it has no model that talks
	LookMoved   = "SERVER_MOVED"     // it sends one elsewhere
	LookFailed  = "SERVER_FAILED"    // it answers with an error
)

// LookError is why; Message is for people.
type LookError struct {
	Code, Message string
}

func (e *LookError) Error() string { return e.Message }

func lookError(code, format string, args ...any) error {
	return &LookError{code, fmt.Sprintf(format, args...)}
}

// ModelServer is a server of models that somebody named.
type ModelServer struct {
	Address string // as the settings want it
	API     string // one of the API constants
	Kind    string // the id of a known service that it seems to be, "" = none
	Name    string // what it could be called: the name of its machine, or its kind
	Models  []ModelConfig
}

// OnThisComputer reports whether an address as a person types it is of this machine.
func OnThisComputer(address string) bool {
	u, err := lookAddress(address)
	return err == nil && onThisComputer(u.String())
}

// Look asks the server at an address which models it has, with a key when there
// is one. Nothing is remembered.
func (r *Registry) Look(ctx context.Context, address, key string) (ModelServer, error) {
	root, err := lookAddress(address)
	if err != nil {
		return ModelServer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	l := looking{r: r, key: key, root: root}
	if key == "" {
		if f, ok := r.probeOllama(ctx, root.String()); ok {
			return l.ollama(f)
		}
	}
	return l.openAI(ctx)
}

// lookAddress reads what a person types or pastes: a machine, an address, or that
// of one of the server's functions. What comes back ends before the version.
func lookAddress(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 2048 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, lookError(LookAddress, noAddress)
	}
	typed := strings.Contains(s, "://")
	if !typed {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, lookError(LookAddress, noAddress)
	case u.User != nil:
		return nil, lookError(LookAddress, "There is a name or password in this address. Take it out and put the key into its own field.")
	case !typed && u.Port() == "" && !nearName(u.Hostname()):
		u.Scheme = "https"
	}
	u.RawQuery, u.Fragment, u.RawFragment, u.RawPath = "", "", "", ""
	u.Path = strings.TrimRight(u.Path, "/")
	for _, function := range []string{"/chat/completions", "/completions", "/responses", "/models", "/embeddings", "/api/tags", "/api/chat"} {
		u.Path = strings.TrimRight(strings.TrimSuffix(u.Path, function), "/")
	}
	u.Path = strings.TrimRight(strings.TrimSuffix(u.Path, "/v1"), "/")
	return u, nil
}

// nearName is a machine that has no certificate as a rule.
func nearName(host string) bool {
	return net.ParseIP(host) != nil || !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".lan") ||
		strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".home.arpa")
}

// looking is one look at a server.
type looking struct {
	r    *Registry
	key  string
	root *url.URL
}

func (l looking) ollama(f finding) (ModelServer, error) {
	if len(f.models) == 0 {
		return ModelServer{}, lookError(LookEmpty, "Ollama runs there, but has no model that talks. Get one there with "+
			"`ollama pull qwen3:8b`, then try again.")
	}
	s := ModelServer{Address: l.root.String(), API: APIOllama, Kind: "ollama", Models: f.models}
	s.Name = l.name(s.Kind)
	return s, nil
}

// openAI looks for a list of models where such servers have it.
func (l looking) openAI(ctx context.Context) (ModelServer, error) {
	var first error
	for _, version := range []string{"/v1", ""} {
		base := l.root.String() + version
		body, err := l.get(ctx, base+"/models")
		if err == nil {
			if list, ok := servedModels(body); ok {
				return l.served(ctx, base, list)
			}
			err = lookError(LookOther, "Something answers at %s, but it is no server of models. Hearth looked for a list of models at %s/models.",
				l.root.Host, base)
		}
		if first == nil {
			first = err
		}
		var known *LookError
		if errors.As(err, &known) && (known.Code == LookOther || known.Code == LookFailed) {
			continue // it may be at the other place
		}
		return ModelServer{}, err
	}
	return ModelServer{}, first
}

func (l looking) served(ctx context.Context, base string, list served) (ModelServer, error) {
	if len(list.models) == 0 {
		return ModelServer{}, lookError(LookEmpty, "The server at %s answers, but has no model that talks. Load one there, then try again.",
			l.root.Host)
	}
	s := ModelServer{Address: base, API: APIOpenAI, Kind: list.kind, Models: list.models}
	if !slices.ContainsFunc(s.Models, func(m ModelConfig) bool { return m.ContextWindow > 0 }) {
		for _, more := range []string{"/api/v0/models", "/model/info"} { // LM Studio, LiteLLM
			if body, err := l.get(ctx, l.root.String()+more); err == nil && describe(s.Models, body) {
				break
			}
		}
	}
	s.Name = l.name(s.Kind)
	return s, nil
}

// name is what a person could call the server.
func (l looking) name(kind string) string {
	host := l.root.Hostname()
	if onThisComputer(l.root.String()) || net.ParseIP(host) != nil {
		if kind != "" {
			return kind
		}
		return "server"
	}
	for _, part := range strings.Split(strings.ToLower(host), ".") {
		if part != "www" && part != "api" && part != "models" {
			return part
		}
	}
	return "server"
}

// get asks for JSON; what is not JSON is an answer of something else.
func (l looking) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, lookError(LookAddress, "This is no address of a server: %s", address)
	}
	req.Header.Set("Accept", "application/json")
	if l.key != "" {
		req.Header.Set("Authorization", "Bearer "+l.key)
	}
	c := *l.r.http
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Do(req)
	if err != nil {
		return nil, l.unreached(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil {
		return nil, l.unreached(err)
	}
	return body, l.answered(resp)
}

func (l looking) answered(resp *http.Response) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		if l.key == "" {
			return lookError(LookKey, "The server at %s wants a key. Put it into the field of the key, then try again.", l.root.Host)
		}
		return lookError(LookKey, "The server at %s did not take this key. Look whether all of it was pasted, and whether it is of this server.",
			l.root.Host)
	case code >= 300 && code < 400:
		return lookError(LookMoved, "The server at %s sends one elsewhere, to %s. Give that address if it is the right one.", l.root.Host,
			shortened(resp.Header.Get("Location")))
	case code >= 500:
		return lookError(LookFailed, "The server at %s answers with the error %d. Look there why, then try again.", l.root.Host, code)
	case code != http.StatusOK || media != "application/json":
		return lookError(LookOther, "Something answers at %s, but it is no server of models. Look whether the address is right; Hearth "+
			"looked for a list of models at %s/v1/models.", l.root.Host, l.root)
	}
	return nil
}

func shortened(s string) string {
	if s == "" {
		return "nowhere"
	}
	return strings.ToValidUTF8(s[:min(len(s), 200)], "")
}

// unreached says why nothing came.
func (l looking) unreached(err error) error {
	host := l.root.Host
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch words := err.Error(); {
	case errors.As(err, &dns):
		return lookError(LookAbsent, "There is no machine called %s that this computer knows of. Look whether the name is right.",
			l.root.Hostname())
	case errors.As(err, &cert), errors.As(err, &unknown):
		return lookError(LookCert, "The server at %s cannot prove that it is the right one: its certificate is not known to this computer. "+
			"Add its certificate to the system, or use http:// inside your own network.", host)
	case errors.As(err, &record), strings.Contains(words, "HTTP response to HTTPS client"):
		return lookError(LookPlain, "The server at %s does not speak https. Give its address with http://.", host)
	case strings.Contains(words, "malformed HTTP"), !dialing(err) && !errors.Is(err, context.Canceled) && !isTimeout(err):
		// Some speak first, and some hang up before they have read a request: there
		// was a connection, and no answer.
		return lookError(LookPlain, "What answers at %s does not speak http. Look whether the port is right, or try https://.", host)
	case errors.Is(err, context.Canceled):
		return err
	case isTimeout(err):
		return lookError(LookAbsent, "Nobody answered at %s in time. Look whether the server runs, whether it listens for other machines, and "+
			"whether a firewall is in between.", host)
	}
	return lookError(LookAbsent, "Nobody answers at %s. Start the server there, and look whether the port is right and whether it listens "+
		"for other machines.", host)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// dialing: there never was a connection.
func dialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}
