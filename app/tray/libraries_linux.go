//go:build desktop && linux

package main

/*
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// A library whose code the loader changes has pages that its file has not.
static int changed(const struct dl_phdr_info *l)
{
	for (int i = 0; i < l->dlpi_phnum; i++) {
		if (l->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (const ElfW(Dyn) *d = (const void *)(l->dlpi_addr + l->dlpi_phdr[i].p_vaddr); d->d_tag != DT_NULL; d++)
			if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
				return 1;
	}
	return 0;
}

static int give(struct dl_phdr_info *l, size_t size, void *none)
{
	(void)size, (void)none;
	const uintptr_t page = sysconf(_SC_PAGESIZE);
	if (l->dlpi_name[0] != '/' || changed(l))
		return 0;
	for (int i = 0; i < l->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &l->dlpi_phdr[i];
		if (p->p_type != PT_LOAD || p->p_flags & PF_W)
			continue;
		const uintptr_t from = (l->dlpi_addr + p->p_vaddr + page - 1) & -page, to = (l->dlpi_addr + p->p_vaddr + p->p_memsz) & -page;
		if (from < to)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 0;
}

static void give_all(void) { dl_iterate_phdr(give, NULL); }
*/
import "C"

// giveLibraries gives back the code and constants of the libraries that this
// program is linked with: GTK alone is 10 MB, most of it needed only to start.
// They are read again from the kernel's file cache when they are used. Only parts
// that a library declares as never written are given, and no library is loaded
// meanwhile: the loader is asked, and waits.
func giveLibraries() { C.give_all() }
