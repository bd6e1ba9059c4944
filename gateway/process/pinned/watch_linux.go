package pinned

import (
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File is one file as it was approved.
type File struct {
	// Names are the absolute paths that mean it: as it was named, and where it
	// really is. Folders are those that they are in.
	Names   []string
	Folders []Folder
	// Links are the links on the way there and where they lead, and everything
	// else on the way with "": it is none.
	Links   map[string]string
	Content *os.File // the copy, which nobody can change
}

// Options are what a Watcher needs.
type Options struct {
	Files []File
	// Dir is what the working folder of the command was called when it was
	// opened, and Folder which one that is.
	Dir    string
	Folder Folder
	// Tell says to who reads the command's output why something did not start.
	Tell func(words string)
}

// Watcher answers for one command and all that it starts.
type Watcher struct {
	o      Options
	bases  map[string][]*File // by the last part of their names
	copies []Folder           // which files the copies are
	links  map[string]string
	steps  map[string]bool // the last parts of links

	listener chan *os.File
	wake     *os.File // read end
	waker    *os.File

	mu      sync.Mutex
	stopped []stop

	// Of the goroutine that answers alone:
	fd       int
	starting map[int]start // by thread
}

// stop is a tracee that stands still.
type stop struct {
	pid    int
	status unix.WaitStatus
}

// New starts the goroutine that answers. It goes on until the program ends, as
// the tree that it answers for does.
func New(o Options) (*Watcher, error) {
	if len(machines) == 0 {
		return nil, errors.New("keep scripts as they were approved: not on this processor")
	}
	r, wr, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("keep scripts as they were approved: %w", err)
	}
	w := &Watcher{
		o: o, bases: map[string][]*File{}, links: map[string]string{}, steps: map[string]bool{},
		listener: make(chan *os.File, 1), wake: r, waker: wr, starting: map[int]start{},
	}
	for i := range o.Files {
		f := &o.Files[i]
		for _, n := range f.Names {
			b := path.Base(n)
			w.bases[b] = append(w.bases[b], f)
		}
		w.copies = append(w.copies, FolderOf("/proc/self/fd/"+strconv.Itoa(int(f.Content.Fd()))))
		for l, to := range f.Links {
			w.links[l], w.steps[path.Base(l)] = to, true
		}
	}
	go w.run()
	return w, nil
}

// Enter puts the calling thread, which must be locked to its goroutine, and all
// that it starts from now on under the Watcher.
//
// Until the first start has succeeded the caller keeps the garbage collector
// from running: the thread that starts a program stands still until the new
// program was answered, and a collection would wait for that thread.
func (w *Watcher) Enter() error {
	f, err := install()
	if err != nil {
		close(w.listener)
		return err
	}
	w.listener <- f
	return nil
}

// Stopped takes what the caller, who waits for all children, learns of a
// process that stopped and did not end.
func (w *Watcher) Stopped(pid int, status unix.WaitStatus) {
	w.mu.Lock()
	w.stopped = append(w.stopped, stop{pid, status})
	w.mu.Unlock()
	_, _ = w.waker.Write([]byte{0})
}

// run answers on a thread of its own: only who traces a process may go on
// tracing it.
func (w *Watcher) run() {
	runtime.LockOSThread()
	f, ok := <-w.listener
	if !ok {
		return
	}
	defer func() { _ = f.Close() }()
	w.fd = int(f.Fd())
	// Faster, where the kernel can.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}, {Fd: int32(w.wake.Fd()), Events: unix.POLLIN}}
	var b [64]byte
	for {
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if fds[1].Revents&unix.POLLIN != 0 {
			_, _ = w.wake.Read(b[:])
			w.stops()
		}
		switch {
		case fds[0].Revents&unix.POLLIN != 0:
			w.question()
		case fds[0].Revents != 0:
			fds[0].Fd = -1 // nobody is left to ask
		}
	}
}

func (w *Watcher) stops() {
	w.mu.Lock()
	all := w.stopped
	w.stopped = nil
	w.mu.Unlock()
	for _, s := range all {
		w.stop(s)
	}
}

// question answers one.
func (w *Watcher) question() {
	var n notification
	if _, err := control(w.fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
		return
	}
	c := callOf(n)
	a, ok := w.look(n, c)
	if !ok {
		w.goOn(n.id)
		return
	}
	if c == link || c == linkat {
		w.readlink(n.id, a)
		return
	}
	f := w.match(a)
	switch {
	case f == nil:
		w.goOn(n.id)
	case c == exec || c == execat:
		w.start(n.id, a, f)
	default:
		w.open(n.id, a, f)
	}
}

func callOf(n notification) call {
	for _, m := range machines {
		if m.arch == n.arch {
			return m.calls[uint32(n.nr)]
		}
	}
	return none
}

// goOn lets the call be what it is.
func (w *Watcher) goOn(id uint64) {
	w.answer(response{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
}

func (w *Watcher) refuse(id uint64, e unix.Errno) { w.answer(response{id: id, errno: -int32(e)}) }

func (w *Watcher) answer(r response) {
	_, _ = control(w.fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)) // who is gone needs no answer
}

// waits: who asked still does, so what was read is theirs.
func (w *Watcher) waits(id uint64) bool {
	_, err := control(w.fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id))
	return err == nil
}
