package bedrock

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// The example that Amazon publishes for Signature Version 4.
func TestSignatureOfAmazonsExample(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet, "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	sign(r, nil, credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}, scope{"us-east-1", "iam"}, at)
	want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, " +
		"Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
	if got := r.Header.Get("Authorization"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSigner(t *testing.T) {
	const id = "AKIAABCDEFGHIJKLMNOP"
	for _, tt := range []struct{ key, begins, token string }{
		{"", "", ""},
		{"a-bedrock-key", "Bearer a-bedrock-key", ""},
		{id + ":s", "AWS4-HMAC-SHA256 Credential=" + id + "/20260102/eu-west-3/bedrock/aws4_request, " +
			"SignedHeaders=content-type;host;x-amz-date, ", ""},
		{id + ":s:tok", "AWS4-HMAC-SHA256 Credential=" + id + "/20260102/eu-west-3/bedrock/aws4_request, " +
			"SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, ", "tok"},
	} {
		r, err := http.NewRequest(http.MethodPost, "https://bedrock-runtime.eu-west-3.amazonaws.com/model/a%3A0/converse", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		s := Signer{Key: func() string { return tt.key }, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
		if err := s.Prepare(r, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Get("Authorization"); !strings.HasPrefix(got, tt.begins) || tt.begins == "" && got != "" ||
			r.Header.Get("X-Amz-Security-Token") != tt.token {
			t.Errorf("%s: %s", tt.key, got)
		}
	}
	r, _ := http.NewRequest(http.MethodPost, "https://x.test/model/a%3A0/converse", nil)
	if got := canonicalPath(r.URL); got != "/model/a%253A0/converse" {
		t.Errorf("path %s", got)
	}
	if err := (Signer{Key: func() string { return id }, Now: time.Now}).Prepare(r, nil); err == nil {
		t.Error("an access key id without its secret was sent")
	}
}

// frame is one of Amazon's frames.
func frame(headers, payload string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(preludeSize+len(headers)+len(payload)+crcSize))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func text(name, value string) string {
	return string(byte(len(name))) + name + "\x07" + string([]byte{byte(len(value) >> 8), byte(len(value))}) + value
}

func read(r io.Reader) (out string, err error) {
	for ev, e := range frames(r) {
		if e != nil {
			return out, e
		}
		out += string(ev.Data) + "\n"
	}
	return out, nil
}

func TestFrames(t *testing.T) {
	event := text(":message-type", "event")
	stream := frame(event+text(":event-type", "a"), `{"x":1}`)
	stream = append(stream, frame("\x01n\x00"+"\x01d\x08\x01\x02\x03\x04\x05\x06\x07\x08"+event+text(":event-type", "b"), "")...)
	stream = append(stream, frame(text(":message-type", "exception")+text(":exception-type", "throttlingException"), `{"message":"slow"}`)...)
	want := `{"a":{"x":1}}` + "\n" + `{"b":{}}` + "\n" + `{"error":{"code":"throttlingException","message":"slow"}}` + "\n"
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(stream), "bytes": iotest.OneByteReader(bytes.NewReader(stream))} {
		if got, err := read(r); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	first := len(frame(event+text(":event-type", "a"), `{"x":1}`))
	for n := range stream {
		if _, err := read(bytes.NewReader(stream[:n])); (err == nil) != (n == 0 || n == first ||
			n == first+len(frame("\x01n\x00"+"\x01d\x08\x01\x02\x03\x04\x05\x06\x07\x08"+event+text(":event-type", "b"), ""))) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for i := range first { // one damaged byte is found
		bad := bytes.Clone(stream[:first])
		bad[i] ^= 1
		if _, err := read(bytes.NewReader(bad)); err == nil {
			t.Errorf("byte %d was damaged and nobody saw", i)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(frame(text(":message-type", "event")+text(":event-type", "a"), `{"x":1}`))
	f.Add([]byte("data: {}\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) { read(bytes.NewReader(b)) })
}
