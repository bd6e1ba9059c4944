package attachment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Named is what is known of a file before a model is given any of it. Its name is
// cleaned.
func Named(name, mimeType string, size int64, d *document.Document) protocol.AttachedFile {
	f := protocol.AttachedFile{
		Name: envelope.Label(name), MimeType: envelope.Label(mimeType), Size: size, Kind: d.Kind, Unit: d.Unit, Total: d.Total, Notes: d.Notes,
	}
	for _, p := range d.Parts {
		f.Text += len(p.Text)
	}
	if d.Problem != nil {
		f.Problem, f.Why = d.Problem.Code, d.Problem.Error()
	}
	return f
}

// Say is what a model is told of a file: what it is, where it is kept, and as much
// of its text as fits most bytes, marked as text from outside. What of it was given is
// noted in f. path is "" where no tool reaches the file.
func Say(f *protocol.AttachedFile, d *document.Document, path string, most int, wrap untrusted.Wrapper) string {
	f.Path = path
	head := envelope.Attached(f.MimeType, f.Name, f.Size)
	if path != "" {
		head += " It is kept as " + path + " in the workspace."
	} else {
		head += " It is kept, where no tool of this conversation reads it."
	}
	if len(f.Notes) > 0 { // which are words of the file, too
		head += " About it: " + envelope.Clean(strings.Join(f.Notes, "; "), "") + "."
	}
	switch {
	case f.Problem != "":
		return head + " Its text cannot be read: " + f.Why + ". Say so if it matters."
	case d.Kind == document.Audio:
		return head + " Nothing here writes down speech yet: you do not know what is said in it. Say so, and ask for the words, unless " +
			"they do not matter."
	case d.Kind == document.Video:
		return head + " Videos cannot be watched here: you do not know what it shows."
	case len(d.Parts) == 0:
		return head + " Its content was not read."
	}
	text, parts := d.Fit(most)
	f.Given, f.Whole = parts, parts == len(d.Parts) && !d.Cut
	if d.Unit == "" || d.Kind == document.Archive {
		f.Given = 0
	}
	source := "file " + f.Name + " that came with the message"
	switch {
	case text == "":
		return head + " " + amountOf(d) + "None of it is here, because the message has no more room." + readOn(path, d, 1)
	case f.Whole && d.Kind == document.Archive:
		return head + " What is in it:\n" + wrap.Wrap(source, text)
	case f.Whole:
		return head + " " + amountOf(d) + "Its text:\n" + wrap.Wrap(source, text)
	case f.Given > 0:
		return head + fmt.Sprintf(" The first %d of %d %ss:\n", f.Given, max(d.Total, len(d.Parts)), d.Unit) + wrap.Wrap(source, text) + "\n" +
			strings.TrimSpace(readOn(path, d, f.Given+1))
	}
	return head + fmt.Sprintf(" The first %d KB of its text:\n", (len(text)+1023)>>10) + wrap.Wrap(source, text) + "\n" +
		strings.TrimSpace(readOn(path, d, 1))
}

func amountOf(d *document.Document) string {
	if d.Unit == "" || d.Kind == document.Archive {
		return ""
	}
	if d.Total == 1 {
		return "It has one " + d.Unit + ". "
	}
	return fmt.Sprintf("It has %d %ss. ", d.Total, d.Unit)
}

// readOn says how the rest is read.
func readOn(path string, d *document.Document, from int) string {
	switch {
	case path == "":
		return " The rest of it cannot be read here."
	case d.Unit != "" && d.Kind != document.Archive:
		return fmt.Sprintf(" The rest is not here: the tool read gives it, with path %s and pages such as %d-%d.", path, from,
			min(from+19, max(d.Total, from)))
	}
	return " The rest is not here: the tool read gives it, with path " + path + " and an offset."
}

// Sum names the bytes of a file.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
