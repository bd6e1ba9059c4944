package support

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestSec_A_SEC_SupportHoldsNothingOfAPerson plants secrets and words of a person in
// everything that a report is made of, and looks for them in it.
func TestSec_A_SEC_SupportHoldsNothingOfAPerson(t *testing.T) {
	const secret, words, path = "sk-canary-93ab", "my grandmother is ill", "/home/grandma/diary"
	var raw bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&raw, nil))
	log.Info("an answer was written", "session", "agent:main:"+words, "text", words, "key", secret, "ms", 120, words, 7)
	log.Warn("cannot read "+path, "err", secret)
	log.Error(words+"! "+secret, "group", map[string]any{"inner": words, "n": 3})
	raw.WriteString("{half a line " + secret + "\n" + words + "\n{\"level\":\"" + words + "\",\"msg\":\"a\"}\n")
	lines, err := Log(&raw)
	if err != nil {
		t.Fatal(err)
	}
	text := string(Report{
		Version: "1.2.3", System: "linux/amd64", Go: "go1", At: time.Unix(1, 0), Log: lines,
		Status: &protocol.StatusDetail{URL: secret, StateDir: path, ConfigPath: path, Model: words, StoreBytes: 5 << 20,
			Problems: []protocol.Problem{{Code: "DISK_FULL", Message: words + secret}}},
		Checks: []protocol.HealthCheck{{Area: "folder", State: protocol.CheckFail, What: path + words, Advice: secret}},
	}.Text())
	for _, planted := range []string{secret, words, path, "grandm", "canary", "diary"} {
		if strings.Contains(text, planted) {
			t.Errorf("%q is in the report:\n%s", planted, text)
		}
	}
	for _, wanted := range []string{"an answer was written ms=120", "problem DISK_FULL", "fail folder", "database 5 MB", "(words left out)"} {
		if !strings.Contains(text, wanted) {
			t.Errorf("%q is not in the report:\n%s", wanted, text)
		}
	}
}

func FuzzLog(f *testing.F) {
	f.Add([]byte("{\"time\":\"2026-11-26T03:00:00Z\",\"level\":\"INFO\",\"msg\":\"gateway is ready\",\"pid\":4}\n"))
	f.Add([]byte("{\n\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		lines, _ := Log(bytes.NewReader(raw))
		Report{Log: lines}.Text()
	})
}
