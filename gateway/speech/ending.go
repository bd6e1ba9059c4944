package speech

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// endings are those by which services and programs know a sound's kind.
var endings = []string{".flac", ".m4a", ".mp3", ".mp4", ".mpeg", ".mpga", ".oga", ".ogg", ".wav", ".webm"}

// ofKind is the ending of a kind.
var ofKind = map[string]string{
	"audio/flac": ".flac", "audio/x-flac": ".flac", "audio/mp4": ".m4a", "audio/m4a": ".m4a", "audio/x-m4a": ".m4a", "audio/mpeg": ".mp3",
	"audio/mp3": ".mp3", "audio/ogg": ".ogg", "audio/opus": ".ogg", "application/ogg": ".ogg", "audio/wav": ".wav", "audio/x-wav": ".wav",
	"audio/wave": ".wav", "audio/webm": ".webm", "video/webm": ".webm", "audio/aac": ".aac", "audio/amr": ".amr",
}

// ending is the ending of a sound's file: by its bytes, else by its name and kind.
func ending(s Sound) string {
	switch d := s.Data; {
	case bytes.HasPrefix(d, []byte("OggS")):
		return ".ogg"
	case bytes.HasPrefix(d, []byte("RIFF")):
		return ".wav"
	case bytes.HasPrefix(d, []byte("fLaC")):
		return ".flac"
	case bytes.HasPrefix(d, []byte("ID3")):
		return ".mp3"
	case len(d) > 8 && string(d[4:8]) == "ftyp":
		return ".m4a"
	case bytes.HasPrefix(d, []byte("\x1aE\xdf\xa3")):
		return ".webm"
	}
	if end := strings.ToLower(path.Ext(s.Name)); slices.Contains(endings, end) {
		return end
	}
	kind, _, _ := strings.Cut(strings.ToLower(s.MIME), ";")
	if end := ofKind[strings.TrimSpace(kind)]; end != "" {
		return end
	}
	return ".ogg"
}
