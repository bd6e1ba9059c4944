# What build/test checks, and what each check needs. It is sourced after
# build/steps.sh, with CHECK the name of the check that runs.

STATICCHECK=v0.8.2
MCP_PACKAGES=(@modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/inspector@2.12.0)
OPENAI_PACKAGE=openai@7.57.0
AI_PACKAGES=(ai@7.0.173 @ai-sdk/openai-compatible@3.0.92)
CRONER_PACKAGE=croner@11.0.1
GOVULNCHECK=v1.1.4
# In the order in which they are begun. Two that compile the same at once compile it twice,
# so the page is checked beside the first of them; the tests are the longest by far.
CHECKS=(page-build format program page-types page-unit go vet whatsapp generated staticcheck vulnerabilities keyring mcp openai-client ai-sdk croner
	linker cover cross vet-other page-browser lived-in desktop page-firefox lab root)
SLOW=" lab cross vet-other page-browser lived-in page-firefox "
# What root may do and others may not: these packages' tests run once more as root.
ROOT_SLICE=(./gateway/process ./gateway/sandbox ./gateway/launch ./gateway/safepath ./gateway/config ./gateway/statedir ./gateway/tool/shell ./gateway/tool/file)

# Packages that compute long and do one thing after the other: the race detector
# would have nothing to find, and multiplies their time. internal/meta holds them to it.
WITHOUT_RACES=(./internal/meta ./frontend/src/i18n ./gateway/codemode/typescript ./gateway/cronexpr ./gateway/document ./gateway/sqlite ./gateway/outbound/chunk ./gateway/sections ./gateway/session/policy)

# Their tests start our programs as people do, hundreds of times. Races inside of those are
# found where their parts are tested; here the detector would multiply each start.
PROGRAMS=(./app/hearth)

# What is compiled for one check is compiled for all: without C, but for the race
# detector, and for the desktop.
export CGO_ENABLED=0

# Without other tags all is checked with those of hearth-channels.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-tags=$CHANNELS_TAGS"

about() {
	case $1 in
	format) echo "gofmt" ;;
	vet) echo "go vet" ;;
	staticcheck) echo "staticcheck $STATICCHECK" ;;
	vulnerabilities) echo "govulncheck, where its database can be reached" ;;
	generated) echo "frontend/src/protocol.ts is what gateway/protocol says, and the licences are those of what is inside, docs/configuration.md and the fields of the page are what the sections of the settings say" ;;
	page-types) echo "svelte-check" ;;
	page-unit) echo "vitest" ;;
	page-build) echo "the page builds and is within its size budget" ;;
	program) echo "the hearth binary builds" ;;
	go) echo "go test -race ./... (with the kill-point tests)" ;;
	desktop) echo "the icon in the menu bar and the window against a real gateway, X server and session bus" ;;
	whatsapp) echo "hearth-whatsapp, a module of its own: go vet and its tests" ;;
	keyring) echo "the keychain against a real gnome-keyring, as it is when locked, empty and absent too" ;;
	mcp) echo "MCP's official server and inspector, and an editor's client, with ours" ;;
	lab) echo "discovery between machines made of network namespaces, with Avahi (started as root on Linux)" ;;
	root) echo "what differs for root, once more as root" ;;
	openai-client) echo "the openai package of npm ($OPENAI_PACKAGE), unchanged, against our HTTP API" ;;
	ai-sdk) echo "the AI SDK of npm (${AI_PACKAGES[*]}), unchanged, against our HTTP API" ;;
	croner) echo "croner of npm ($CRONER_PACKAGE), a second opinion on when expressions are due where clocks change" ;;
	cross) echo "static builds for Linux (amd64), macOS (arm64), Windows (amd64); with --long, and in build/package, for Linux (arm64)" ;;
	cover) echo "go test -cover, where tests start their own program again" ;;
	vet-other) echo "for macOS and Windows: every package and test is read as there, and go vet where the files differ, also for Linux (arm64)" ;;
	linker) echo "no reflective method calls, which would double the binary" ;;
	page-browser) echo "the page in Chromium against the real gateway" ;;
	page-firefox) echo "a part of that in Debian's Firefox" ;;
	lived-in) echo "a first week with Hearth, from outside: command line, page, Telegram, OpenClaw's client" ;;
	interop) echo "OpenClaw's own clients against our gateway" ;;
	channels) echo "a table of what the suite of channels says of each network; the check go runs the same tests" ;;
	esac
}

# awaited CHECK: what must have ended before it begins, because it would do the same
# or reads what that writes: Hearth carries the built page, so all of Go does.
awaited() {
	case $1 in
	page-build | format | vulnerabilities | croner) ;;
	program | page-types | page-unit) echo page-build ;;
	page-firefox) echo page-build program page-browser ;; # two browsers at once are slower than one after the other
	vet-other) echo page-build cross ;;
	*) echo page-build program ;;
	esac
}

# --- what the checks need ---------------------------------------------------

# debian PACKAGE…: installs Debian packages, or says how.
debian() {
	if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
		say "  missing: $*. Install it and run this again; on Debian: sudo apt-get install $*"
		return 1
	fi
	apt_updated=${apt_updated:-no}
	if [ "$apt_updated" = no ]; then
		step "Read the list of Debian packages" apt-get update -q || return
		apt_updated=yes
	fi
	step "Install $*" env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$@"
}

need_compiler() { command -v gcc >/dev/null || debian gcc libc6-dev; }

need_tmux() { command -v tmux >/dev/null || debian tmux; } # the terminal chat is tested in a terminal

need_keyring() {
	command -v gnome-keyring-daemon >/dev/null && command -v dbus-run-session >/dev/null || debian gnome-keyring dbus dbus-daemon
}

# Commands are really run and traced, in every shell that may read their text.
need_strace() { command -v strace >/dev/null && command -v busybox >/dev/null || debian strace busybox; }
require_strace() { export HEARTH_REQUIRE_STRACE=1; }

# The servers of calendars, mail and chat that watchers and channels are tried against.
need_servers() {
	{ command -v radicale && { command -v dovecot || [ -x /usr/sbin/dovecot ]; } && [ -x /usr/sbin/ngircd ] && command -v prosody; } >/dev/null || debian radicale dovecot-imapd ngircd prosody
}

# Building it takes minutes, so only the long tests and the table of channels have a real
# homeserver; the others have one where build/dendrite was run.
require_homeserver() { [ -z "${HEARTH_LONG:-}" ] || homeserver; }

homeserver() { step "Build dendrite" build/dendrite && export HEARTH_DENDRITE=$CACHE/dendrite; }

require_servers() { export HEARTH_REQUIRE_SERVERS=1; }

need_lab() {
	local program
	for program in avahi-daemon avahi-browse nft ip dbus-daemon busybox openssl; do
		command -v "$program" >/dev/null || { debian avahi-daemon avahi-utils nftables iproute2 dbus-daemon busybox openssl; return; }
	done
}

need_chromium() {
	command -v chromium >/dev/null || debian chromium fonts-dejavu-core fonts-noto-color-emoji
}

# The first steps meet a service under its own name, with a certificate.
need_openssl() { command -v openssl >/dev/null || debian openssl; }

need_firefox() {
	command -v firefox-esr >/dev/null || debian firefox-esr fonts-dejavu-core fonts-noto-color-emoji
}

# What confines commands is tested with real ones, from a shell and from Python.
need_python() { [ "$(uname)" != Linux ] || { { [ -x /usr/bin/python3 ] || debian python3-minimal; } && { command -v bwrap >/dev/null || debian bubblewrap; }; }; }

# What the icon and the window are linked with, an X server, and a session bus;
# the panel is the test itself.
need_desktop() {
	if ! pkg-config --exists ayatana-appindicator3-0.1 gtk+-3.0 webkit2gtk-4.1 2>/dev/null || ! command -v xvfb-run >/dev/null || ! command -v dbus-run-session >/dev/null || ! command -v xdotool >/dev/null || ! command -v scrot >/dev/null; then
		debian "${DESKTOP_PACKAGES[@]}" xvfb xauth xdotool scrot dbus dbus-daemon || return
	fi
}

# What a check needs of the system's packages. Only root can install them, so they
# are there before the checks begin.
needs_go() { need_compiler && need_tmux && need_strace && need_python && need_servers; }
needs_keyring() { need_keyring; }
needs_desktop() { [ "$(uname)" != Linux ] || need_desktop; }
needs_lab() { [ "$(uname)" != Linux ] || { need_compiler && need_lab; }; }
needs_page-browser() { need_chromium && need_keyring && need_openssl; }
needs_page-firefox() { need_firefox; }
needs_lived-in() { need_chromium; }
needs_channels() { need_python && need_servers; }
needs_interop() { need_chromium && need_tmux; }
needs_root() { [ "$(uname)" != Linux ] || needs_go; }

need_staticcheck() {
	local have
	have=$("$CACHE/bin/staticcheck" -version 2>/dev/null) || have=
	case $have in *"${STATICCHECK#v}"*) return 0 ;; esac
	step "Install staticcheck $STATICCHECK" env GOBIN="$CACHE/bin" go install "honnef.co/go/tools/cmd/staticcheck@$STATICCHECK"
}

# --- the checks -------------------------------------------------------------

check_format() {
	local files
	files=$(find . \( -path ./frontend/node_modules -o -path ./build/cache -o -path ./.git \) -prune -o -name '*.go' -print0 | xargs -0 gofmt -l)
	[ -z "$files" ] || { printf 'not formatted, run gofmt -w:\n%s\n' "$files"; return 1; }
}

check_vet() { go vet ./...; }

check_staticcheck() { need_staticcheck && "$CACHE/bin/staticcheck" ./...; }

check_vulnerabilities() {
	if ! node -e 'fetch("https://vuln.go.dev/index/db.json",{signal:AbortSignal.timeout(5000)}).then(r=>process.exit(r.ok?0:1),()=>process.exit(1))'; then
		say "  skipped: the database at vuln.go.dev cannot be reached from here"
		return 0
	fi
	go run "golang.org/x/vuln/cmd/govulncheck@$GOVULNCHECK" ./app/...
}

check_generated() { go run ./gateway/protocol/tsgen -check && page_dependencies && go run ./build/licenses -check && go run ./build/settings -check; }

check_page-types() { page_dependencies && (cd frontend && npm run --silent check); }

check_page-unit() { page_dependencies && (cd frontend && npm test --silent); }

check_page-build() { page_dependencies && page_build && touch "$CACHE/page.stamp"; }

require_sandbox() { [ "$(uname)" != Linux ] || export HEARTH_REQUIRE_SANDBOX=1; }

check_go() {
	needs_go && require_strace && require_sandbox && require_servers && require_homeserver || return
	go build -tags failpoint -o "$CACHE/hearth-failpoints" ./app/hearth || return
	go build -o "$CACHE/hearth-channels" ./app/channels || return # beside it, where a gateway looks
	local around=(env "HEARTH_FAILPOINT_PROGRAM=$CACHE/hearth-failpoints") flags=(-race -timeout 20m) status=0
	[ -z "${HEARTH_COVER:-}" ] || flags+=("-coverprofile=$CACHE/cover.out")
	go_test -timeout 20m -- "${WITHOUT_RACES[@]}" "${PROGRAMS[@]}" || status=1 # without C, as all else is compiled
	# A program with the race detector waits a second at its end for races of what still runs; 250 of them wait four minutes.
	around+=(CGO_ENABLED=1 GORACE=atexit_sleep_ms=50)
	# shellcheck disable=SC2046
	go_test "${flags[@]}" -- $(go list ./... | grep -vxF "$(go list "${WITHOUT_RACES[@]}" "${PROGRAMS[@]}")") || status=1
	[ -z "${HEARTH_COVER:-}" ] || tell_cover
	return "$status"
}

# tell_cover: how much of each package its own tests ran, the least first, and of all.
tell_cover() {
	say "" "covered by the tests of the package itself:"
	sed -nE 's/^(ok  )?\t(github[^\t]*)\t.*coverage: ([0-9.]+)%.*/\3 % \2/p' "$CACHE/go-test-$CHECK.log" | sort -n
	go tool cover -func="$CACHE/cover.out" | sed -nE 's/^total:.*\t([0-9.]+)%$/\1 % in total/p'
}

# What runs itself again as something else is the first to stumble over -cover.
check_cover() { go_test -cover -count=1 -timeout 5m -run '^(TestHowItEnds|TestInput|TestSec_A_EXEC_16_FolderIsExchanged)$' -- ./gateway/process; }

# go_test FLAGS… -- PACKAGES…: go test, inside of what the array around names, if
# there is one. It does not vet once more what the check vet does.
go_test() {
	local log=$CACHE/go-test-$CHECK.log flags=(-vet=off)
	while [ "$1" != -- ]; do flags+=("$1") && shift; done
	shift
	${around[@]+"${around[@]}"} go test "${flags[@]}" "$@" 2>&1 | tee "$log" && return
	again "$log" "${flags[@]}"
}

# unsteady WHERE NAMES: tests (with | between) that failed once and passed when
# they were run again. build/test tells them at its end.
unsteady() {
	local name
	say "UNSTEADY  $1: $2 failed once, passed when run again"
	[ -n "${HEARTH_UNSTEADY:-}" ] || return 0
	for name in ${2//|/ }; do
		printf '{"check": "%s", "where": "%s", "name": "%s"}\n' "$CHECK" "$1" "$name" >>"$HEARTH_UNSTEADY"
	done
}

# again LOG FLAGS…: runs what failed once more, alone. Hundreds of tests with real
# processes and clocks share two processors here; what fails twice is broken, and
# what did not is named. A race, a panic, a time-out or a package that does not
# build is broken at once.
again() {
	if grep -qE '^panic:|WARNING: DATA RACE|\[(build|setup) failed\]|test timed out' "$1"; then return 1; fi
	local log=$1 package tests failed=0 flag flags=()
	shift
	for flag; do [[ $flag == -coverprofile=* ]] || flags+=("$flag"); done # the profile is of all
	while read -r package tests; do
		[ -n "$tests" ] || return 1
		say "  once more: $package $tests"
		if ${around[@]+"${around[@]}"} go test "${flags[@]}" -count=1 -timeout 10m -run "^($tests)\$" "$package" </dev/null; then
			unsteady "$package" "$tests"
		else
			failed=1
		fi
	done < <(awk '
		/^--- FAIL: / { name = $3; tests = tests (tests == "" ? "" : "|") name }
		/^ok / || /^\?/ { tests = "" }
		/^FAIL\t/ { print $2, tests; tests = "" }' "$log")
	return "$failed"
}

check_desktop() {
	if [ "$(uname)" != Linux ]; then
		say "  skipped: it drives the icon over D-Bus, which only Linux has"
		return 0
	fi
	# -noreset: a server that begins anew when its last program leaves turns the
	# next one away.
	local tags=desktop,production,webkit2_41 around=(env CGO_ENABLED=1 HEARTH_REQUIRE_DESKTOP=1 dbus-run-session -- xvfb-run -a -s "-screen 0 1280x900x24 -noreset")
	needs_desktop && page && CGO_ENABLED=1 go vet -tags "$tags" . ./app/tray/... ./app/window ./app/notify/... ./app/node &&
		go_test -p 1 -tags "$tags" -count=1 -timeout 8m -- ./app/tray/... ./app/window ./app/notify ./app/node ./app/hotkey ./app/power
}

check_whatsapp() { (cd app/whatsapp && go vet ./... && go test -count=1 -timeout 5m ./...); }

check_keyring() {
	local around=(env HEARTH_REQUIRE_KEYRING=1)
	needs_keyring && go_test -count=1 -timeout 5m -- ./gateway/secret/keychain
}

need_mcp() { npm_packages mcp 125 "${MCP_PACKAGES[@]}"; }

check_mcp() {
	local around=(env "HEARTH_MCP_PACKAGES=$CACHE/mcp/node_modules")
	need_mcp && go_test -count=1 -timeout 3m -run 'TestOfficial' -- ./gateway/mcp ./app/hearth
}

# The lab's machines are network namespaces. Who makes them has root's rights over
# the network and nothing else of root; what people start on them has none.
LAB_RIGHTS=+net_admin,+net_raw,+net_bind_service,+sys_admin,+sys_chroot,+sys_ptrace,+dac_override,+chown,+kill,+setpcap

check_lab() {
	if [ "$(uname)" != Linux ]; then
		say "  skipped: it is made of network namespaces, which only Linux has"
		return 0
	elif ! { ip netns add hearth-try && ip netns del hearth-try; } 2>/dev/null; then
		say "  SKIPPED: making network namespaces needs root; run build/test as root for this check"
		return 0
	fi
	local around=(env CGO_ENABLED=1 HEARTH_LAB=1 HEARTH_REQUIRE_LAB=1)
	needs_lab && go_test -race -count=1 -parallel 4 -timeout 20m -run 'TestLab|TestSec_A_DISC' -- ./discovery ./app/hearth
}

check_root() {
	if [ "$(uname)" != Linux ] || [ "$(id -u)" -ne 0 ]; then
		say "  SKIPPED: only root can run it; run build/test as root for this check"
		return 0
	fi
	# Races are the other run's to find; here only what root may do differs.
	needs_root && require_strace && require_sandbox && go_test -timeout 10m -- "${ROOT_SLICE[@]}"
}

# npm_packages FOLDER MEGABYTES PACKAGE…: these of npm, in a folder of the cache. They
# are only loaded, never built, so their scripts stay off.
npm_packages() {
	local dir=$CACHE/$1 size=$2
	shift 2
	[ "$(cat "$dir/version" 2>/dev/null)" != "$*" ] || return 0
	need_node
	mkdir -p "$dir"
	step "Install $* from npm (about $size MB)" \
		npm_anew install --prefix "$dir" --ignore-scripts "$@" || return
	printf '%s' "$*" >"$dir/version"
}

need_openai() { npm_packages openai 35 "$OPENAI_PACKAGE"; }

check_openai-client() {
	local around=(env "HEARTH_OPENAI_PACKAGE=$CACHE/openai/node_modules/openai")
	need_openai && go_test -count=1 -timeout 3m -run TestOfficialOpenAIClient -- ./gateway/feature/openaiapi
}

need_ai_sdk() { npm_packages ai-sdk 25 "${AI_PACKAGES[@]}"; }

check_ai-sdk() {
	local around=(env "HEARTH_AI_PACKAGES=$CACHE/ai-sdk/node_modules")
	need_ai_sdk && go_test -count=1 -timeout 3m -run TestOfficialAISDK -- ./gateway/feature/openaiapi
}

# What croner says around every change of clocks until 2030, of every zone, is worked
# out anew and compared with ours.
check_croner() {
	local dir=$CACHE/croner
	npm_packages croner 1 "$CRONER_PACKAGE" && cp gateway/cronexpr/testdata/changes.mjs "$dir/" || return
	node "$dir/changes.mjs" >"$dir/changes.json" || return
	local around=(env "HEARTH_CRONER=$dir/changes.json")
	go_test -count=1 -timeout 5m -v -run '^TestEveryChangeOfClocks$' -- ./gateway/cronexpr
}

check_cross() {
	local target targets="linux/amd64 darwin/arm64 windows/amd64"
	# What differs between Linux's processors is a few packages, which vet-other reads.
	[ -z "${HEARTH_LONG:-}" ] || targets+=" linux/arm64"
	for target in $targets; do
		say "  $target"
		CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go build -ldflags "-s -w" -o /dev/null ./app/hearth ./app/channels || return
	done
}

# A package with the same files on every system is vetted by the check vet, and
# read here as the other system has it, with its tests. That compiles nothing of ours.
check_vet-other() {
	local typecheck=$CACHE/bin/typecheck target system differing
	go build -o "$typecheck" ./build/typecheck || return
	for target in darwin/arm64 windows/amd64 linux/arm64; do
		system=(env "GOOS=${target%/*}" "GOARCH=${target#*/}")
		say "  $target"
		{ [ "$target" = linux/arm64 ] || "${system[@]}" "$typecheck"; } && differing=$("${system[@]}" "$typecheck" -differing) || return
		# shellcheck disable=SC2086
		"${system[@]}" go vet $differing || return
	done
	GOOS=windows GOARCH=amd64 go vet -tags desktop . ./app/tray ./app/window
}

check_program() { page && binary; }

check_linker() {
	local n
	n=$(go build -ldflags=-dumpdep -o /dev/null ./app/hearth 2>&1 | grep -c ReflectMethod) || true
	[ "$n" = 0 ] || { say "$n reachable calls of a method by a computed name; find them with: go build -ldflags=-dumpdep ./app/hearth 2>&1 | grep ReflectMethod"; return 1; }
}

check_page-browser() {
	need_chromium && page && binary && (cd frontend && HEARTH_BIN="$BIN/hearth" npm run --silent test:page)
}

check_page-firefox() {
	need_firefox && page && binary && (cd frontend && HEARTH_BROWSER=firefox HEARTH_BIN="$BIN/hearth" npm run --silent test:page)
}

OPENCLAW=2026.9.6

check_lived-in() {
	# shellcheck source=build/interop/install.sh
	. build/interop/install.sh
	needs_lived-in && page && binary && need_node24 && need_openclaw "$OPENCLAW" &&
		go build -o "$CACHE/botapi" ./build/botapi &&
		"$NODE24" build/livedin/main.mjs "$BIN/hearth" "$CACHE/botapi" "$CACHE/interop/$OPENCLAW/node_modules/openclaw/openclaw.mjs"
}

# Every network, in the process and behind the protocol of programs, and with the
# servers that others wrote. The table is made of what the tests say.
check_channels() {
	local packages log=$CACHE/channels.json
	needs_channels && require_servers && require_sandbox && homeserver || return
	packages=$(go list -f '{{$p := .ImportPath}}{{range .TestImports}}{{$p}} {{.}}
{{end}}{{range .XTestImports}}{{$p}} {{.}}
{{end}}' ./... | sed -n 's|^\([^ ]*\) .*/gateway/channel/channeltest$|\1|p' | sort -u) || return
	# shellcheck disable=SC2086
	go test -vet=off -count=1 -timeout 15m -json -run '^TestChannel|^TestRealServer$' $packages >"$log" || true
	# shellcheck disable=SC2086
	go run ./build/channeltable $packages <"$log"
}

check_interop() { needs_interop && page && binary && bash build/interop/run; }
