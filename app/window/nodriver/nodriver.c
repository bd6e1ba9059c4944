// A graphics driver that has no graphics: an EGL vendor library, as libglvnd
// loads them, with a display on which nothing can be made.
//
// hearth-window has its page drawn in software. WebKitGTK 2.50 starts EGL in the
// page's process all the same, before it has read that setting, and ends the
// process when there is no EGL display. Mesa's takes 25 MB there: a compiler for
// a graphics card that is never asked for anything. This one takes 50 KB.
//
// What is asked of it is answered as a driver without any configuration would:
// no contexts, no surfaces, no images. Whoever wants to draw with it is told so
// and draws in software.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// What libglvnd asks of a vendor, version 0 of its interface; what comes behind
// may be left out. No header is needed to build this.
struct imports {
	void *(*get_platform_display)(unsigned platform, void *native, const intptr_t *attributes);
	unsigned (*get_supports_api)(unsigned api);
	const char *(*get_vendor_string)(int what);
	void *(*get_proc_address)(const char *name);
	void *(*get_dispatch_address)(const char *name);
	void (*set_dispatch_index)(const char *name, int index);
};

enum {
	PLATFORM_EXTENSIONS = 0,
	BAD_MATCH = 0x3009,
	VENDOR = 0x3053,
	VERSION = 0x3054,
	EXTENSIONS = 0x3055,
	CLIENT_APIS = 0x308D,
	OPENGL_ES_API = 0x30A0,
};

static int here; // its address is the display

static void *display(unsigned platform, void *native, const intptr_t *attributes)
{
	(void)platform, (void)native, (void)attributes;
	return &here;
}

static unsigned supports(unsigned api) { return api == OPENGL_ES_API; }

static const char *describe(int what)
{
	return what == PLATFORM_EXTENSIONS ? "EGL_MESA_platform_surfaceless" : NULL;
}

static unsigned initialize(void *d, int32_t *major, int32_t *minor)
{
	if (d != &here)
		return 0;
	if (major)
		*major = 1;
	if (minor)
		*minor = 5;
	return 1;
}

static unsigned yes(void) { return 1; }

// no answers every function that makes or finds something: nothing, or false.
static void *no(void) { return NULL; }

static int32_t error(void) { return BAD_MATCH; }

static const char *query(void *d, int32_t name)
{
	switch (name) {
	case EXTENSIONS:
		return d ? "" : "EGL_EXT_client_extensions EGL_EXT_platform_base EGL_MESA_platform_surfaceless";
	case VENDOR:
		return "Hearth";
	case VERSION:
		return "1.5";
	case CLIENT_APIS:
		return "OpenGL_ES";
	default:
		return "";
	}
}

static void *function(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} known[] = {
		{"eglInitialize", initialize},
		{"eglTerminate", yes},
		{"eglReleaseThread", yes},
		{"eglQueryString", query},
		{"eglGetError", error},
		{"eglBindAPI", no},
		{"eglBindTexImage", no},
		{"eglChooseConfig", no},
		{"eglClientWaitSync", no},
		{"eglCopyBuffers", no},
		{"eglCreateContext", no},
		{"eglCreateImage", no},
		{"eglCreatePbufferFromClientBuffer", no},
		{"eglCreatePbufferSurface", no},
		{"eglCreatePixmapSurface", no},
		{"eglCreatePlatformPixmapSurface", no},
		{"eglCreatePlatformWindowSurface", no},
		{"eglCreateSync", no},
		{"eglCreateWindowSurface", no},
		{"eglDestroyContext", no},
		{"eglDestroyImage", no},
		{"eglDestroySurface", no},
		{"eglDestroySync", no},
		{"eglGetConfigAttrib", no},
		{"eglGetConfigs", no},
		{"eglGetSyncAttrib", no},
		{"eglMakeCurrent", no},
		{"eglQueryAPI", no},
		{"eglQueryContext", no},
		{"eglQuerySurface", no},
		{"eglReleaseTexImage", no},
		{"eglSurfaceAttrib", no},
		{"eglSwapBuffers", no},
		{"eglSwapInterval", no},
		{"eglWaitClient", no},
		{"eglWaitGL", no},
		{"eglWaitNative", no},
		{"eglWaitSync", no},
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].function;
	return NULL;
}

static void index_of(const char *name, int index) { (void)name, (void)index; }

__attribute__((visibility("default"))) unsigned __egl_Main(uint32_t version, const void *exports, void *vendor, struct imports *imports)
{
	(void)exports, (void)vendor;
	if (version >> 16 != 0)
		return 0;
	imports->get_platform_display = display;
	imports->get_supports_api = supports;
	imports->get_vendor_string = describe;
	imports->get_proc_address = function;
	imports->get_dispatch_address = function;
	imports->set_dispatch_index = index_of;
	return 1;
}
