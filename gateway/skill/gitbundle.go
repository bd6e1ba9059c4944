package skill

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
)

// A git bundle is a list of branches and a pack of objects. It is read here,
// without git, so that nothing of it is run or obeyed: no hooks, no filters, no
// settings. Only whole bundles of SHA-1 repositories are read.

const (
	gitCommit, gitTree, gitBlob, gitTag = 1, 2, 3, 4
	gitOffset, gitRef                   = 6, 7

	maxObjects = 20_000
	maxChain   = 60 // deltas of deltas
)

type gitObject struct {
	kind int
	data []byte
}

type pack struct {
	byID  map[[20]byte]gitObject
	byAt  map[int64]gitObject
	total int64
}

// unbundle returns the files of the bundle's HEAD, or of its first branch.
func unbundle(data []byte) (Files, error) {
	head, rest, err := bundleHead(data)
	if err != nil {
		return nil, err
	}
	p, err := readPack(rest)
	if err != nil {
		return nil, err
	}
	tree, err := p.treeOf(head)
	if err != nil {
		return nil, err
	}
	g := gather{}
	if err := p.files(tree, "", &g, 0); err != nil {
		return nil, err
	}
	return g.done(), nil
}

func bundleHead(data []byte) (head [20]byte, pack []byte, err error) {
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	found := false
	for {
		line, after, ok := bytes.Cut(rest, []byte("\n"))
		if !ok {
			return head, nil, invalid("the git bundle is cut off")
		}
		rest = after
		s := string(line)
		switch {
		case s == "":
			if !found {
				return head, nil, invalid("the git bundle holds no branch")
			}
			return head, rest, nil
		case strings.HasPrefix(s, "@"):
			if s != "@object-format=sha1" {
				return head, nil, invalid("the git bundle needs %s, which Hearth does not read", clean(s, 60))
			}
		case strings.HasPrefix(s, "-"):
			return head, nil, invalid("the git bundle holds a part of a history only; make it with `git bundle create skill.bundle HEAD`")
		default:
			id, name, ok := strings.Cut(s, " ")
			raw, herr := hex.DecodeString(id)
			if !ok || herr != nil || len(raw) != 20 {
				return head, nil, invalid("the git bundle is damaged")
			}
			if !found || name == "HEAD" {
				head, found = [20]byte(raw), true
			}
		}
	}
}

func readPack(data []byte) (*pack, error) {
	if len(data) < 32 || string(data[:4]) != "PACK" || binary.BigEndian.Uint32(data[4:]) != 2 {
		return nil, invalid("the pack of the git bundle is damaged")
	}
	body, sum := data[:len(data)-20], data[len(data)-20:]
	if s := sha1.Sum(body); !bytes.Equal(s[:], sum) {
		return nil, invalid("the git bundle is damaged: its checksum is wrong")
	}
	n := binary.BigEndian.Uint32(data[8:])
	if n > maxObjects {
		return nil, invalid("the git bundle holds more than %d objects", maxObjects)
	}
	p := &pack{byID: map[[20]byte]gitObject{}, byAt: map[int64]gitObject{}}
	src := bytes.NewReader(body)
	_, _ = src.Seek(12, io.SeekStart)
	for range n {
		if err := p.read(src); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func damaged(error) error { return invalid("the pack of the git bundle is damaged") }

// read reads the next object of the pack and resolves it.
func (p *pack) read(src *bytes.Reader) error {
	at := src.Size() - int64(src.Len())
	c, err := src.ReadByte()
	if err != nil {
		return damaged(err)
	}
	kind, size, shift := int(c>>4&7), int64(c&15), uint(4)
	for c&0x80 != 0 {
		if c, err = src.ReadByte(); err != nil || shift > 32 {
			return damaged(err)
		}
		size |= int64(c&0x7f) << shift
		shift += 7
	}
	var base gitObject
	switch kind {
	case gitCommit, gitTree, gitBlob, gitTag:
	case gitOffset:
		back, err := offset(src)
		if err != nil {
			return err
		}
		b, ok := p.byAt[at-back]
		if !ok {
			return damaged(nil)
		}
		base = b
	case gitRef:
		var id [20]byte
		if _, err := io.ReadFull(src, id[:]); err != nil {
			return damaged(err)
		}
		b, ok := p.byID[id]
		if !ok {
			return invalid("the git bundle refers to objects that come later or are missing; make it again with `git bundle create skill.bundle " +
				"HEAD`")
		}
		base = b
	default:
		return damaged(nil)
	}
	data, err := p.inflate(src, size)
	if err != nil {
		return err
	}
	if kind == gitOffset || kind == gitRef {
		if data, err = applyDelta(base.data, data, maxTotal*2-p.total); err != nil {
			return err
		}
		p.total += int64(len(data))
		kind = base.kind
	}
	o := gitObject{kind, data}
	p.byAt[at], p.byID[objectID(o)] = o, o
	return nil
}

func offset(src *bytes.Reader) (int64, error) {
	c, err := src.ReadByte()
	if err != nil {
		return 0, damaged(err)
	}
	n := int64(c & 0x7f)
	for i := 0; c&0x80 != 0; i++ {
		if c, err = src.ReadByte(); err != nil || i > 6 {
			return 0, damaged(err)
		}
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, nil
}

// inflate unpacks one object. The reader is a ByteReader, so zlib takes no byte
// more than it needs.
func (p *pack) inflate(src *bytes.Reader, size int64) ([]byte, error) {
	if p.total+size > maxTotal*2 {
		return nil, invalid("the git bundle holds more than %d MiB", maxTotal>>19)
	}
	z, err := zlib.NewReader(src)
	if err != nil {
		return nil, damaged(err)
	}
	data, err := io.ReadAll(io.LimitReader(z, size+1))
	if err != nil || int64(len(data)) != size {
		return nil, damaged(err)
	}
	p.total += size
	return data, nil
}

func objectID(o gitObject) [20]byte {
	name := map[int]string{gitCommit: "commit", gitTree: "tree", gitBlob: "blob", gitTag: "tag"}[o.kind]
	h := sha1.New()
	_, _ = io.WriteString(h, name+" "+strconv.Itoa(len(o.data))+"\x00")
	_, _ = h.Write(o.data)
	return [20]byte(h.Sum(nil))
}

// applyDelta makes an object of another one and what is different.
func applyDelta(base, delta []byte, left int64) ([]byte, error) {
	r := bufio.NewReader(bytes.NewReader(delta))
	from, err := binary.ReadUvarint(r)
	if err != nil || from != uint64(len(base)) {
		return nil, damaged(err)
	}
	size, err := binary.ReadUvarint(r)
	if err != nil || int64(size) < 0 || int64(size) > left {
		return nil, invalid("the git bundle holds more than %d MiB", maxTotal>>19)
	}
	out := make([]byte, 0, size)
	for {
		op, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case op == 0:
			return nil, damaged(nil)
		case op&0x80 == 0:
			part := make([]byte, op)
			if _, err := io.ReadFull(r, part); err != nil {
				return nil, damaged(err)
			}
			out = append(out, part...)
		default:
			start, n, err := copyOf(r, op)
			if err != nil || start+n > len(base) {
				return nil, damaged(err)
			}
			out = append(out, base[start:start+n]...)
		}
		if uint64(len(out)) > size {
			return nil, damaged(nil)
		}
	}
	if uint64(len(out)) != size {
		return nil, damaged(nil)
	}
	return out, nil
}

func copyOf(r io.ByteReader, op byte) (start, n int, err error) {
	var v [7]byte
	for i := range v {
		if op&(1<<i) != 0 {
			if v[i], err = r.ReadByte(); err != nil {
				return 0, 0, err
			}
		}
	}
	start = int(v[0]) | int(v[1])<<8 | int(v[2])<<16 | int(v[3])<<24
	if n = int(v[4]) | int(v[5])<<8 | int(v[6])<<16; n == 0 {
		n = 0x10000
	}
	return start, n, nil
}

// treeOf follows tags and a commit to its tree.
func (p *pack) treeOf(id [20]byte) ([20]byte, error) {
	for range maxChain {
		o, ok := p.byID[id]
		if !ok {
			return id, damaged(nil)
		}
		word := ""
		switch o.kind {
		case gitTree:
			return id, nil
		case gitCommit:
			word = "tree "
		case gitTag:
			word = "object "
		default:
			return id, damaged(nil)
		}
		line, _, _ := strings.Cut(string(o.data), "\n")
		raw, err := hex.DecodeString(strings.TrimPrefix(line, word))
		if err != nil || len(raw) != 20 {
			return id, damaged(err)
		}
		id = [20]byte(raw)
	}
	return id, damaged(nil)
}

// files gathers the files of a tree.
func (p *pack) files(id [20]byte, at string, g *gather, depth int) error {
	o, ok := p.byID[id]
	if !ok || o.kind != gitTree || depth > maxDeep {
		return damaged(nil)
	}
	rest := o.data
	for len(rest) > 0 {
		head, after, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(after) < 20 {
			return damaged(nil)
		}
		mode, name, ok := strings.Cut(string(head), " ")
		if !ok || strings.Contains(name, "/") {
			return damaged(nil)
		}
		child := [20]byte(after[:20])
		rest = after[20:]
		full := name
		if at != "" {
			full = at + "/" + name
		}
		switch mode {
		case "40000":
			if err := g.folder(full); err != nil {
				return err
			}
			if err := p.files(child, full, g, depth+1); err != nil {
				return err
			}
		case "100644", "100755", "100664":
			blob, ok := p.byID[child]
			if !ok || blob.kind != gitBlob {
				return damaged(nil)
			}
			if err := g.add(File{Path: full, Data: blob.data, Executable: mode == "100755"}); err != nil {
				return err
			}
		default:
			return invalid("%s is a link or another repository; a skill consists of files and folders only", clean(full, 200))
		}
	}
	return nil
}
