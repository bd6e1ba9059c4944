# OpenClaw's programs and the Node that they want, for the checks that run them. It
# is sourced after build/steps.sh.

# The clients are only started, never built, so their packages' scripts stay off;
# Node's own package needs its script to fetch the binary for this machine.
install_client() { # install_client VERSION
	npm install --prefix "$CACHE/interop/$1" --ignore-scripts --no-audit --no-fund --loglevel=error "openclaw@$1"
}
install_node() { npm install --prefix "$CACHE/node24" --no-audit --no-fund --loglevel=error node@24; }

NODE24=$CACHE/node24/node_modules/node/bin/node
need_node24() {
	[ ! -x "$NODE24" ] || return 0
	mkdir -p "$CACHE/node24"
	step "Install node@24 from npm" install_node
}

need_openclaw() { # need_openclaw VERSION
	[ ! -e "$CACHE/interop/$1/installed" ] || return 0
	mkdir -p "$CACHE/interop/$1"
	step "Install openclaw@$1 from npm (about 550 MB)" install_client "$1" || return
	touch "$CACHE/interop/$1/installed"
}
