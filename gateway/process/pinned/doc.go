// Package pinned shows a command the files that were approved, as they were
// approved, whatever happens meanwhile to those of the same name: scripts that
// it reads and programs that it starts. It works on Linux, for every user, and
// needs no namespace and no right.
//
// The kernel stops whoever in the command's tree opens or starts a file and
// asks here (seccomp's user notification). A name that means an approved file
// is answered with a descriptor of a sealed copy; so $0, __file__ and what lies
// beside the script are what they always are. A start cannot be answered with a
// descriptor without changing what a program is called, so it goes on, is held
// by ptrace before its first instruction, and what was really loaded is compared
// with the copy. All else goes its way.
//
// What stays open: a program that hides its memory from its own user (not
// readable, or dumpable no more) is not looked into, and neither an interpreter
// nor a shell does so. Programs that copy files (cp, tar, git) see the files
// themselves, because they notice a descriptor of another file.
//
// The package keeps no policy: which files, is the caller's to say.
package pinned
