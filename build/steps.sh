# What build/run, build/test and build/bench share: finding the tools, showing
# progress, and building the page and the binary only when they are out of date.
# It is sourced, after `set -euo pipefail`, and leaves the caller in the root of
# the checkout.

CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
CACHE=$ROOT/build/cache
BIN=$ROOT/build/bin
mkdir -p "$CACHE" "$BIN"

# Go is often unpacked there without being on the PATH of a fresh shell.
case ":$PATH:" in *:/usr/local/go/bin:*) ;; *) PATH=$PATH:/usr/local/go/bin ;; esac
export PATH
# The version comes from version() below; asking git again can fail in a
# checkout that belongs to somebody else. Without paths inside, what one thing
# compiled the next one finds in the cache.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false -trimpath"
GO_NEEDED=1.26
NODE_NEEDED=20.19

say() { printf '%s\n' "$*"; }
die() {
	printf 'error: %s\n' "$1" >&2
	shift
	for line in "$@"; do printf '  %s\n' "$line" >&2; done
	exit 1
}

# at_least HAVE WANT: compares the first two numbers of two versions.
at_least() {
	local have_major have_minor want_major want_minor
	IFS=. read -r have_major have_minor _ <<<"$1.0"
	IFS=. read -r want_major want_minor _ <<<"$2.0"
	[ "$have_major" -gt "$want_major" ] || { [ "$have_major" -eq "$want_major" ] && [ "$have_minor" -ge "$want_minor" ]; }
}

need_go() {
	local v
	command -v go >/dev/null || die "Go is not installed, or not on the PATH." \
		"Install Go $GO_NEEDED or newer from https://go.dev/dl/ and run this again."
	v=$(go env GOVERSION) # e.g. go1.26.8
	v=${v#go}
	at_least "${v%%[!0-9.]*}" "$GO_NEEDED" || die "Go $v is too old; Hearth needs Go $GO_NEEDED or newer." \
		"Install it from https://go.dev/dl/ and run this again."
}

need_node() {
	local v
	command -v node >/dev/null || die "Node.js is not installed, or not on the PATH." \
		"Install Node.js $NODE_NEEDED or newer from https://nodejs.org/ and run this again." \
		"It is only needed to build the page, not to run Hearth."
	v=$(node --version)
	at_least "${v#v}" "$NODE_NEEDED" || die "Node.js $v is too old; building the page needs $NODE_NEEDED or newer." \
		"Install it from https://nodejs.org/ and run this again."
	command -v npm >/dev/null || die "npm is not installed; it usually comes with Node.js." \
		"Install it and run this again. On Debian: apt-get install npm"
}

# step NAME COMMAND…: runs the command and says how long it took. A line now and
# then shows that long work is alive.
step() {
	local name=$1 started=$SECONDS status=0 ticker
	shift
	say "→ $name"
	(
		trap 'kill $! 2>/dev/null; exit 0' TERM
		[ -z "${HEARTH_LANE:-}" ] || exit 0 # who shows several at once says it
		every=5
		while :; do
			sleep "$every" >/dev/null 2>&1 &
			wait $!
			[ "$every" -ge 40 ] || every=$((every * 2))
			printf '  … %s, %d s\n' "$name" $((SECONDS - started))
		done
	) 2>/dev/null &
	ticker=$!
	"$@" || status=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	if [ "$status" -eq 0 ]; then
		say "✓ $name ($((SECONDS - started)) s)"
	else
		say "✗ $name failed after $((SECONDS - started)) s"
	fi
	return "$status"
}

# changed STAMP PATH…: true when the stamp is missing or something in the paths
# is newer. Folders count too, so a deleted file is noticed.
changed() {
	local stamp=$1
	shift
	[ -e "$stamp" ] || return 0
	[ -n "$(find "$@" -newer "$stamp" -print 2>/dev/null | head -n 1)" ]
}

# npm_anew ARGUMENT…: npm with these, begun anew once when it has not ended after ten
# minutes or failed: it can wait for ever for a connection that broke.
npm_anew() {
	local once=(npm "$@" --no-audit --no-fund --loglevel=error)
	! command -v timeout >/dev/null || once=(timeout -k 10 600 "${once[@]}")
	"${once[@]}" || "${once[@]}"
}

npm_ci() { (cd frontend && npm_anew ci); }

# page_dependencies installs the page's packages when the lock file changed.
page_dependencies() {
	[ ! -d frontend/node_modules ] || changed "$CACHE/npm.stamp" frontend/package-lock.json || return 0
	need_node
	step "Install the page's packages" npm_ci || return
	touch "$CACHE/npm.stamp"
}

page_build() { (cd frontend && npm run --silent build); }

PAGE_SOURCES=(frontend/src frontend/phone frontend/frame frontend/index.html frontend/public frontend/scripts frontend/package-lock.json
	frontend/package.json frontend/tsconfig.json frontend/firstload.ts frontend/fonts.ts frontend/vite.config.ts frontend/vite.phone.config.ts frontend/svelte.config.js)

# page builds frontend/dist when its sources changed.
page() {
	[ ! -e frontend/dist/index.html.gz ] || changed "$CACHE/page.stamp" "${PAGE_SOURCES[@]}" || return 0
	need_node
	page_dependencies || return
	: >"$CACHE/page.next" # before the build, so that an edit during it is not missed
	step "Build the page" page_build || return
	mv "$CACHE/page.next" "$CACHE/page.stamp"
}

# version is the tag of this commit, or what the source says and the commit. A
# copy of the tree without git was told it in build/version.
version() {
	[ ! -e build/version ] || { cat build/version && return; }
	git describe --tags --exact-match 2>/dev/null && return
	sed -n 's/^var version = "\(.*\)"$/\1/p' app/hearth/main.go | tr -d '\n'
	git rev-parse --short=10 HEAD 2>/dev/null | sed 's/^/+/' || true
}

# Matrix has its encryption in Go with this tag, and needs C without it.
CHANNELS_TAGS=goolm

go_build() {
	CGO_ENABLED=0 go build -ldflags "-s -w -X main.version=$(version) -X main.updateSource=${HEARTH_UPDATE_SOURCE:-} -X main.updateKeys=${HEARTH_UPDATE_KEYS:-}" -o "$@"
}

# binary builds build/bin/hearth and, beside it, what connects messaging networks; Go
# itself knows what is out of date.
binary() {
	need_go
	step "Build hearth" go_build "$BIN/hearth" ./app/hearth || return
	step "Build hearth-channels" go_build "$BIN/hearth-channels" -tags "$CHANNELS_TAGS" ./app/channels
}

# has_desktop: is there a screen, and on Linux a session bus, to show an icon on?
has_desktop() {
	case $(uname) in
	Darwin) return 0 ;;
	Linux) [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ] ;;
	*) return 1 ;;
	esac
}

DESKTOP_PACKAGES=(gcc libc6-dev pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev libayatana-appindicator3-dev)

# desktop_libraries: what the icon and the window are linked with.
desktop_libraries() {
	[ "$(uname)" = Linux ] || return 0
	! command -v pkg-config >/dev/null || ! command -v gcc >/dev/null || ! pkg-config --exists gtk+-3.0 webkit2gtk-4.1 ayatana-appindicator3-0.1 || return 0
	if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
		step "Install the desktop's libraries" env DEBIAN_FRONTEND=noninteractive sh -c \
			'apt-get update -q && apt-get install -yq --no-install-recommends "$@"' sh "${DESKTOP_PACKAGES[@]}" && return
	fi
	say "The icon and the window need libraries that are not installed. On Debian and Ubuntu:"
	say "  sudo apt-get install ${DESKTOP_PACKAGES[*]}"
	return 1
}

cgo_build() { # cgo_build TAGS OUTPUT PACKAGE
	CGO_ENABLED=1 go build -tags "$1" -ldflags "-s -w -X main.version=$(version)" -o "$2" "$3"
}

# desktop builds build/bin/hearth-tray and hearth-window; the first time it takes a minute or two.
desktop() {
	need_go
	desktop_libraries || return
	step "Build hearth-tray" cgo_build desktop "$BIN/hearth-tray" ./app/tray || return
	step "Build hearth-window" cgo_build desktop,production,webkit2_41 "$BIN/hearth-window" .
}
