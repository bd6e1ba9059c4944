package plan

import (
	"path/filepath"
	"slices"
	"strings"
)

// classes is what is known of programs. A program may stand under reader or
// writer only if no argument makes it start another one, or if arguments()
// doubts every argument that does.
var classes = classTable(map[class]string{
	reader: `ls dir vdir cat head tail wc cut tr nl od hexdump stat basename dirname realpath readlink
		id whoami groups logname uname tty printenv echo printf true false test [ pwd seq sleep expr
		factor sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum base64 base32
		basenc comm join paste fold fmt expand unexpand tac rev numfmt du df free uptime nproc arch
		cmp diff grep fgrep jq tree ps pgrep lsblk lscpu getent
		cal md5 tsort users who pathchk ptx column yes find sort rg uniq shuf date hostname file locale`,
	writer: `cp mv rm mkdir rmdir ln touch chmod chown chgrp truncate tee mktemp dd shred sync mkfifo
		link unlink gzip bzip2 xz install kill pkill zstd`,
	wrapper: `env nice nohup timeout stdbuf setsid ionice chrt taskset time flock xargs setarch
		linux32 linux64 i386 x86_64`,
	runner: `script parallel watch sudo doas su pkexec runuser chroot unshare nsenter ssh scp sftp
		busybox toybox coreutils strace gdb ltrace perf valgrind systemd-run at batch crontab unbuffer
		expect socat nc ncat netcat vim vi view ex ed rvim gvim vimdiff nvim nano pico emacs less more
		most pager man info tar bsdtar rsync git hg svn bzr cvs zip unzip cpio pax split csplit sdiff
		diff3 make gmake cmake ctest ninja meson bazel cargo rustc rustup go gcc cc g++ c++ clang ld
		as gradle gradlew mvn ant sbt npm npx pnpm pnpx yarn bun bunx corepack pip pipx uv uvx poetry
		pdm conda bundle gem rake just task mix composer docker podman nerdctl kubectl helm terraform
		ansible vagrant systemctl service launchctl apt apt-get aptitude dpkg rpm yum dnf zypper pacman
		apk snap flatpak brew nix nix-shell guix firejail bwrap proot fakeroot catchsegv start-stop-daemon
		tmux screen dtach open xdg-open run-parts which egrep zgrep zcat gunzip bzgrep xzgrep tcpdump
		tshark wget curl ftp telnet rlogin mail sendmail mutt dmesg top htop journalctl loginctl gpg
		pass fd fdfind entr inotifywait fzf logrotate cpulimit prlimit capsh setpriv unlink-all
		softlimit chpst setuidgid s6-setuidgid gosu tini dumb-init direnv asdf mise nvm rbenv pyenv
		cmd command-not-found wsl rundll32 regsvr32 mshta wmic forfiles msbuild installutil
		explorer schtasks hh conhost msiexec certutil bitsadmin`,
	interpreter: `sh bash rbash dash ash zsh ksh mksh lksh pdksh yash fish tcsh csh rc es elvish nu
		xonsh python pypy perl ruby irb node nodejs deno lua luajit php tclsh wish Rscript R julia awk
		gawk mawk nawk bwk original-awk sed java javac jshell groovy scala kotlin clojure ghci runghc
		runhaskell ocaml guile racket sbcl clisp erl escript iex elixir swift osascript powershell pwsh
		cscript wscript gjs ts-node tsx coffee octave bc dc m4 gs ghostscript sqlite sqlite3 psql mysql
		mariadb mongosh redis-cli gnuplot wolframscript`,
})

func classTable(words map[class]string) map[string]class {
	m := map[string]class{}
	for c, list := range words {
		for _, name := range strings.Fields(list) {
			if old, twice := m[name]; !twice || worse(old, c) == c {
				m[name] = c
			}
		}
	}
	return m
}

// arguments doubts what makes an understood program start another or write
// where its name does not say so. Options of GNU programs may be shortened, so
// every beginning of one counts.
func (w *walker) arguments(name string, args []string) {
	starts := func(words string) {
		w.doubt("arguments", "has arguments with which "+Show(name)+" starts other programs: "+words)
	}
	switch name {
	case "find":
		w.find(args)
	case "sort":
		if a, ok := long(args, "--compress-program", 4); ok {
			starts(a)
		}
		if unknown(args) {
			starts("arguments that are decided only when it runs")
		}
		w.output(args, 'o', "--output")
	case "diff", "file", "install":
		if a, ok := startsByOption(name, args); ok {
			starts(a)
		} else if unknown(args) {
			starts("arguments that are decided only when it runs")
		}
		if name == "file" {
			w.compiles(args)
		}
	case "rg":
		for _, a := range args {
			if strings.HasPrefix(a, "--pre") || strings.HasPrefix(a, "--hostname-bin") || strings.HasPrefix(a, "--search-zip") || a == Unknown {
				starts(a)
			}
		}
		if a, ok := short(args, 'z'); ok {
			starts(a)
		}
	case "arch": // of macOS: starts a program for another processor
		if len(args) > 0 {
			starts("its arguments")
		}
	case "shuf", "base64": // base64 of macOS
		w.output(args, 'o', "--output")
	case "tree":
		w.output(args, 'o', "--output")
		if _, ok := short(args, 'R'); ok || unknown(args) {
			w.writes("00Tree.html in the folders that tree shows")
		}
	case "ptx":
		w.index(args)
	case "uniq":
		w.second(args)
	case "date", "hostname":
		w.writers = append(w.writers, w.step)
		w.acts = w.acts || slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "+") })
	}
}

// startsByOption finds the option that makes an understood program start another.
func startsByOption(name string, args []string) (string, bool) {
	for _, o := range map[string][]struct {
		letter byte
		long   string
		least  int
	}{
		"diff":    {{'l', "--paginate", 4}},
		"file":    {{'z', "--uncompress", 3}, {'Z', "--uncompress-noreport", 3}},
		"install": {{'s', "--strip", 4}},
	}[name] {
		if a, ok := short(args, o.letter); ok {
			return a, true
		}
		if a, ok := long(args, o.long, o.least); ok {
			return a, true
		}
	}
	return "", false
}

// compiles: file -C writes a list of patterns into the folder, NAME.mgc.
func (w *walker) compiles(args []string) {
	_, letter := short(args, 'C')
	_, word := long(args, "--compile", 4)
	if letter || word || unknown(args) {
		w.writes("NAME.mgc for the patterns that file compiles")
	}
}

// index: ptx in its old manner writes to the second file that it is given.
func (w *walker) index(args []string) {
	_, letter := short(args, 'G')
	_, word := long(args, "--traditional", 4)
	if letter || word || unknown(args) {
		w.second(args)
	}
}

// second: the second file that uniq is given is written to. Which words are
// options of it depends on its version, so two words are too many.
func (w *walker) second(args []string) {
	words := 0
	for _, a := range args {
		if !strings.HasPrefix(a, "-") || a == "-" {
			words++
		}
	}
	if words > 1 {
		w.writesTo(args[len(args)-1])
	}
}

// writesTo notes a file that a program writes to because of its arguments.
func (w *walker) writesTo(path string) {
	dir, ok := w.dir()
	if path != Unknown && path != "" && !filepath.IsAbs(path) && ok {
		path = filepath.Join(dir, path)
	}
	w.writes(path)
}

// output notes that a reader writes after all.
func (w *walker) output(args []string, letter byte, option string) {
	for i, a := range args {
		name, value, has := strings.Cut(a, "=")
		switch {
		case len(name) > 2 && strings.HasPrefix(option, name):
		case len(a) > 1 && a[0] == '-' && a[1] == letter:
			value, has = a[2:], len(a) > 2
		case len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.IndexByte(a, letter) > 0:
			value, has = Unknown, true // in a cluster: perhaps
		default:
			continue
		}
		if !has && i+1 < len(args) {
			value = args[i+1]
		}
		w.writesTo(value)
	}
}

// long finds an argument that is a long option or a beginning of it of at least
// n bytes.
func long(args []string, option string, n int) (string, bool) {
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		if len(name) >= n && (strings.HasPrefix(option, name) || strings.HasPrefix(name, option)) {
			return a, true
		}
	}
	return "", false
}

// short finds an argument that could hold a one-letter option: in a cluster any
// letter may be one.
func short(args []string, letter byte) (string, bool) {
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.IndexByte(a, letter) > 0 {
			return a, true
		}
	}
	return "", false
}

func unknown(args []string) bool {
	for _, a := range args {
		if a == Unknown {
			return true
		}
	}
	return false
}

// find starts programs by four of its words; it takes no shortened ones.
func (w *walker) find(args []string) {
	for i, a := range args {
		switch a {
		case "-exec", "-execdir", "-ok", "-okdir":
			w.doubt("wrapper", "find starts a program for what it finds")
			inner := args[i+1:]
			for j, b := range inner {
				if b == ";" || b == "+" {
					inner = inner[:j]
					break
				}
			}
			if len(inner) > 0 {
				w.program(inner, 1)
			}
		case "-delete":
			w.writes("what find finds")
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			w.writesTo(append(args[i+1:], Unknown)[0])
		case Unknown:
			w.doubt("arguments", "gives find arguments that are decided only when it runs")
		}
	}
}
