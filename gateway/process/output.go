package process

// output keeps the beginning and the end of what a command printed. What lies
// between is counted and forgotten.
type output struct {
	head    []byte
	tail    []byte // a ring once it is full
	at      int    // where the ring's next byte goes
	total   int64
	headMax int
	tailMax int
}

func newOutput(keep int) *output { return &output{headMax: keep / 2, tailMax: keep - keep/2} }

func (o *output) write(p []byte) {
	o.total += int64(len(p))
	if room := o.headMax - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head = append(o.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > o.tailMax {
		p = p[len(p)-o.tailMax:]
	}
	if room := o.tailMax - len(o.tail); room > 0 {
		n := min(room, len(p))
		o.tail = append(o.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(o.tail[o.at:], p)
		p = p[n:]
		o.at = (o.at + n) % len(o.tail)
	}
}

// Output is what is kept of it, from one moment.
type Output struct {
	Head    []byte
	Tail    []byte // what follows Head, after Dropped bytes
	Dropped int64  // forgotten between the two
	Total   int64
}

// since returns what is kept from an offset on.
func (o *output) since(from int64) Output {
	out := Output{Total: o.total}
	if from < int64(len(o.head)) {
		out.Head = append(out.Head, o.head[max(from, 0):]...)
	}
	tailFrom := o.total - int64(len(o.tail))
	if len(o.tail) > 0 {
		tail := append(append(make([]byte, 0, len(o.tail)), o.tail[o.at:]...), o.tail[:o.at]...)
		skip := min(max(from-tailFrom, 0), int64(len(tail)))
		out.Tail = tail[skip:]
	}
	out.Dropped = max(0, tailFrom-max(from, int64(len(o.head))))
	if out.Dropped == 0 {
		out.Head, out.Tail = append(out.Head, out.Tail...), nil
	}
	return out
}
