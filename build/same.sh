# shellcheck shell=bash
# Is a release the same whoever makes it? Sourced by build/package, for --check.
#
# Each clean root is a mount namespace of this system in which the homes and the
# folders for temporary files are empty, with a user of its own without root's
# rights. What is fetched from elsewhere comes from the caches of this machine,
# copied, and is checked against go.sum and package-lock.json as always.

# twice [FLAGS…]: makes all packages in two roots and compares them.
twice() {
	[ "$(uname) $(id -u)" = "Linux 0" ] || die "Two clean roots need Linux and root." "Run it with sudo."
	[ -z "$(git status --porcelain)" ] || say "  What is in no commit is left out: $(git status --porcelain | wc -l) files."
	SAME=$CACHE/same
	rm -rf "$SAME"
	mkdir -p "$SAME"
	git bundle create -q "$SAME/source.bundle" HEAD --tags || return
	# The tool is not in go.mod; the modules are, but maybe nobody fetched them yet.
	go mod download && go mod download "$WINRES" || return
	local first=/home/ada/hearth second=/srv/builds/of-somebody-else/Hearth-2
	in_root first "$first" ada 61001 022 UTC C.UTF-8 alpha '' "$@" || return
	# Ahead of its time, so that a time that found its way in is seen.
	in_root second "$second" bob 61002 077 Pacific/Kiritimati de_DE.UTF-8 beta '+400d' "$@" || return
	go run ./build/release same "$SAME/first$first/build/packages" "$SAME/second$second/build/packages" || return
	rm -rf "$OUT"
	mkdir -p "$OUT"
	cp -R "$SAME/first$first/build/packages/." "$OUT/"
	rm -rf "$SAME"
}

# in_root NAME PLACE USER UID UMASK ZONE LANGUAGE HOST AHEAD FLAGS…
in_root() {
	local root=$SAME/$1 place=$2 user=$3 id=$4 log=$SAME/$1.log
	mkdir -p "$root"/{home,root,tmp,srv,proxy,npm}
	cp "$SAME/source.bundle" "$root/source.bundle"
	[ ! -d "$(npm config get cache)/_cacache" ] || cp -R "$(npm config get cache)/_cacache" "$root/npm/"
	cp /etc/passwd "$root/passwd" && echo "$user:x:$id:$id::/home/$user:/bin/bash" >>"$root/passwd"
	mkdir -p "$root/home/$user" "$root$(dirname "$place")"
	# HEARTH_SAME_CACHE is what Go compiled before: quicker, and then it says of linking
	# and packing, not of compiling, that it is the same.
	if [ -n "${HEARTH_SAME_CACHE:-}" ]; then
		mkdir -p "$root/home/$user/.cache"
		cp -R "$HEARTH_SAME_CACHE" "$root/home/$user/.cache/go-build"
	fi
	chmod 1777 "$root/tmp"
	chown -R "$id:$id" "$root/home/$user" "$root/npm" "$root/srv" "$root/source.bundle"
	PLACE=$place BUILDER=$user AS=$id MASK=$5 ZONE=$6 WORDS=$7 HOST=$8 AHEAD=$9 COMMIT=$(git rev-parse HEAD) SAME_ROOT=$root HIDE=$ROOT \
		MODULES=$(go env GOMODCACHE)/cache/download TOOLS=$(dirname "$(command -v go)"):$(dirname "$(command -v node)") \
		unshare --mount --uts --ipc --pid --fork --mount-proc bash build/linux/clean-build "${@:10}" >"$log" 2>&1 && return
	tail -n 40 "$log" >&2
	return 1
}
