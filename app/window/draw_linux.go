//go:build desktop && cgo

package window

// #include <stdlib.h>
import "C"

import "unsafe"

// inSoftware has the web view draw without the graphics card's help: some
// drivers show a blank window otherwise. It is what nobody said otherwise, and
// only C's environment is changed: WebKit's processes get that one, programs that
// this one starts get Go's.
func inSoftware() {
	name, value := C.CString("WEBKIT_DISABLE_DMABUF_RENDERER"), C.CString("1")
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(value))
	C.setenv(name, value, 0)
}
