package wire

import (
	"bytes"
	"encoding/json"
)

// Object writes the body of a request field by field. What is written already is
// taken over as it is: encoding/json would read and copy all of it once more, with
// every request of a long conversation.
type Object struct {
	buf bytes.Buffer
	err error
}

// Value adds a field.
func (o *Object) Value(name string, v any) {
	raw, err := JSON(v)
	if o.fail(err) {
		return
	}
	o.name(name)
	o.buf.Write(raw)
}

// List adds a field that is a list of what is written already; err is how that
// went.
func (o *Object) List(name string, items [][]byte, err error) {
	if o.fail(err) {
		return
	}
	size := 0
	for _, raw := range items {
		size += len(raw) + 1
	}
	o.name(name)
	o.buf.Grow(size + 2)
	o.buf.WriteByte('[')
	for i, raw := range items {
		if i > 0 {
			o.buf.WriteByte(',')
		}
		o.buf.Write(raw)
	}
	o.buf.WriteByte(']')
}

// Fields adds those of a struct.
func (o *Object) Fields(v any) {
	raw, err := JSON(v)
	if o.fail(err) || len(raw) <= len("{}") {
		return
	}
	o.next()
	o.buf.Write(raw[1 : len(raw)-1])
}

// fail notes what went wrong; the first counts.
func (o *Object) fail(err error) bool {
	if o.err == nil {
		o.err = err
	}
	return o.err != nil
}

func (o *Object) next() {
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	} else {
		o.buf.WriteByte(',')
	}
}

func (o *Object) name(name string) {
	o.next()
	o.buf.WriteByte('"')
	o.buf.WriteString(name)
	o.buf.WriteString(`":`)
}

// Bytes is the object, written to its end.
func (o *Object) Bytes() ([]byte, error) {
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	}
	o.buf.WriteString("}\n")
	return o.buf.Bytes(), o.err
}

// JSON is a value as requests hold it.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Raw adds a field that is written already; err is how that went.
func (o *Object) Raw(name string, raw []byte, err error) {
	if o.fail(err) {
		return
	}
	o.name(name)
	o.buf.Write(raw)
}

// Elements is a list as requests hold it, without its brackets, so that several can
// be joined.
func Elements[T any](list []T) ([]byte, error) {
	if len(list) == 0 {
		return []byte{}, nil
	}
	raw, err := JSON(list)
	if err != nil {
		return nil, err
	}
	return raw[1 : len(raw)-1], nil
}
