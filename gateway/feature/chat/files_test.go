package chat_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func document(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "document", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// A document reaches the model as text with marks, is kept in the inbox, and clients
// are told what was given; its text is not in what they are sent.
func TestDocumentsReachTheModel(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	var up protocol.UploadPutResult
	p.Do(protocol.MethodUploadPut, protocol.UploadPutParams{FileName: "book.xlsx", Size: int64(base64.StdEncoding.DecodedLen(len(document(t,
		"book.xlsx")))) - int64(strings.Count(document(t, "book.xlsx"), "=")), Content: document(t, "book.xlsx")}, &up)
	if up.File == nil || up.File.Unit != "sheet" || up.File.Total != 2 || up.File.Path != "" {
		t.Fatalf("%+v", up)
	}
	params := protocol.ChatSendParams{SessionKey: "main", Message: "What is in these?", IdempotencyKey: "k1"}
	params.Attachments = []protocol.Attachment{
		{Type: "file", MimeType: "application/pdf", FileName: "report.pdf", Content: document(t, "report.pdf")}, {Upload: up.Upload},
		{FileName: "locked.pdf", Content: document(t, "locked.pdf")}}
	var res protocol.ChatSendResult
	p.Do(protocol.MethodChatSend, params, &res)
	if len(res.Files) != 3 || res.Files[0].Given != 2 || !res.Files[0].Whole || res.Files[0].Path != "inbox/report.pdf" ||
		res.Files[1].Given != 2 || res.Files[2].Problem != "encrypted" || res.Files[2].Path != "inbox/locked.pdf" {
		t.Fatalf("%+v", res.Files)
	}
	end := p.Ended("k1")
	for _, want := range []string{"[page 2]", "the secret word is walnut", "[sheet 2: 第二]", "EXTERNAL_UNTRUSTED_CONTENT",
		"Its text cannot be read: it is protected by a password"} {
		if !strings.Contains(end.Message.Text(), want) {
			t.Errorf("the model was not given %q:\n%s", want, end.Message.Text())
		}
	}
	asked := p.History("main").Messages[0]
	if len(asked.Content) != 4 || asked.Content[0].Text != "What is in these?" || asked.ForAgent != "" {
		t.Errorf("%+v", asked)
	}
	for _, b := range asked.Content[1:] {
		if b.Type != protocol.BlockFile || b.Text != "" || b.File == nil {
			t.Errorf("%+v", b)
		}
	}
	// The same message again, whose upload is gone, is the same message.
	p.Do(protocol.MethodChatSend, params, &res)
	if res.Status != protocol.SendOK {
		t.Errorf("%+v", res)
	}
	params.IdempotencyKey = "k2"
	if err := p.Call(t.Context(), protocol.MethodChatSend, params, nil); err == nil || !strings.Contains(err.Error(), "attach it again") {
		t.Errorf("an upload that is gone was sent: %v", err)
	}
}
