package provider_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
)

// A wrong clock, a proxy that reads along, a network's login page: the person is
// told which it is and what to do, over real TLS, and nothing is sent.
func TestFault_F_PROV_22_CertificateWords(t *testing.T) {
	asked := false
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	trusted := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for name, tc := range map[string]struct {
		tls  *tls.Config
		want string
	}{
		"the clock is wrong": {&tls.Config{RootCAs: trusted, Time: func() time.Time { return time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC) }},
			"Set the date and the time of this computer"},
		"nobody vouches for it": {&tls.Config{}, "virus scanner or a company's proxy"},
		"another server":        {&tls.Config{RootCAs: trusted, ServerName: "elsewhere.test"}, "open a page in the browser"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &http.Transport{TLSClientConfig: tc.tls}
			t.Cleanup(tr.CloseIdleConnections)
			r := provider.New(provider.Options{HTTP: &http.Client{Transport: tr}, Settings: provider.Settings{
				Providers: map[string]provider.ProviderConfig{"mine": {BaseURL: srv.URL, APIKey: "sk-12345678"}},
			}})
			r.Detect(t.Context())
			ref := model.Ref{Provider: "mine", Model: "m"}
			c, err := r.Resolve(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range c.Provider.Stream(t.Context(), model.Request{Model: "m"}) {
				words, _ := provider.Explain(err, ref)
				if !strings.Contains(words, tc.want) || !strings.Contains(words, "othing was sent") || asked {
					t.Errorf("%q, asked %v", words, asked)
				}
			}
		})
	}
}
