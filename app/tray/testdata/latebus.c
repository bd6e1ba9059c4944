// Loaded before GIO, this has each g_bus_get begin 40 ms late, as threads do on
// a busy computer. GIO's own calls of it, such as those of g_bus_watch_name, are
// not changed, nor are those that want their answer in a loop of their own: a
// thread of this file could not give it there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gio/gio.h>

struct request {
	GBusType bus;
	GCancellable *cancellable;
	GAsyncReadyCallback done;
	gpointer data;
};

static gpointer begin(gpointer p) {
	struct request *r = p;
	void (*get)(GBusType, GCancellable *, GAsyncReadyCallback, gpointer) = dlsym(RTLD_NEXT, "g_bus_get");
	g_usleep(40 * 1000);
	get(r->bus, r->cancellable, r->done, r->data);
	g_free(r);
	return NULL;
}

void g_bus_get(GBusType bus, GCancellable *cancellable, GAsyncReadyCallback done, gpointer data) {
	if (g_main_context_get_thread_default() != NULL) {
		void (*get)(GBusType, GCancellable *, GAsyncReadyCallback, gpointer) = dlsym(RTLD_NEXT, "g_bus_get");
		get(bus, cancellable, done, data);
		return;
	}
	struct request *r = g_new(struct request, 1);
	*r = (struct request){bus, cancellable, done, data};
	g_thread_unref(g_thread_new("late", begin, r));
}
