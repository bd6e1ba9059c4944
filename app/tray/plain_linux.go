//go:build desktop && linux

package main

// #include <stdlib.h>
import "C"

import "unsafe"

// plain has GTK draw without OpenGL: menus need none, and looking for it loads
// the whole graphics driver, which in software is a compiler of 30 MB. Only C's
// environment is changed: programs that this one starts get Go's.
func plain() {
	name, value := C.CString("GDK_GL"), C.CString("disable")
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(value))
	C.setenv(name, value, 0)
}
