# Packages for Linux; sourced by build/package.

# linux_root FOLDER: the files as they lie on a system, below FOLDER.
linux_root() {
	local r=$1 size recipe=(go run ./build/release recipes -version "$VERSION" -time "$SOURCE_DATE_EPOCH" -launchable hearth.desktop)
	install -Dm755 "$BIN/hearth" "$r/usr/bin/hearth"
	install -Dm755 "$BIN/hearth-channels" "$r/usr/bin/hearth-channels"
	install -Dm755 "$BIN/hearth-tray" "$r/usr/bin/hearth-tray"
	install -Dm755 "$BIN/hearth-window" "$r/usr/bin/hearth-window"
	install -Dm644 build/linux/hearth.desktop "$r/usr/share/applications/hearth.desktop"
	for size in 48 128 256 512; do
		install -Dm644 "build/icons/hearth-$size.png" "$r/usr/share/icons/hicolor/${size}x$size/apps/hearth.png"
	done
	install -Dm644 build/icons/hearth.svg "$r/usr/share/icons/hicolor/scalable/apps/hearth.svg"
	"${recipe[@]}" -only org.hearth.Hearth.metainfo.xml "$r/usr/share/metainfo" || return
	"${recipe[@]}" -only hearth.service "$r/usr/lib/systemd/system" || return
	install -Dm644 -t "$r/usr/share/hearth/docs" docs/*.md
	install -Dm644 LICENSE "$r/usr/share/doc/hearth/copyright"
	install -Dm644 -t "$r/usr/share/doc/hearth" "$NOTICES"
}

# installed_size FOLDER: as Debian counts it, which no file system has a say in:
# every file rounded up to a kilobyte, and one for everything else.
installed_size() {
	find "$1" \( -type f -printf '%s\n' \) -o -printf '1\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }'
}

linux_deb() {
	local r=$WORK/deb
	linux_root "$r" || return
	mkdir -p "$r/DEBIAN"
	# The service of the machine is there for who wants it, and is not begun.
	cat >"$r/DEBIAN/prerm" <<'TEXT'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --now hearth.service >/dev/null 2>&1 || true
fi
TEXT
	chmod 755 "$r/DEBIAN/prerm"
	cat >"$r/DEBIAN/control" <<TEXT
Package: hearth
Version: ${VERSION/-/\~}
Architecture: $(dpkg --print-architecture)
Maintainer: Hearth <hearth@localhost>
Installed-Size: $(installed_size "$r/usr")
Depends: libc6 (>= 2.34), libgtk-3-0 | libgtk-3-0t64, libwebkit2gtk-4.1-0 (>= 2.39.91), libayatana-appindicator3-1
Recommends: xdg-utils, gnome-keyring | kwalletmanager, bubblewrap
Section: utils
Priority: optional
Description: personal AI assistant in the menu bar
 Hearth keeps your conversations on your own computer, talks to the model you
 choose, and acts only as far as you allow.
TEXT
	chmod -R u=rwX,go=rX "$r"
	dpkg-deb --root-owner-group -Zxz --build "$r" "$OUT/hearth_${VERSION}_$(dpkg --print-architecture).deb" >/dev/null
}

linux_tarball() {
	local name=hearth_${VERSION}_linux_$(go env GOARCH)
	linux_root "$WORK/$name" || return
	archive "$OUT/$name.tar.gz" "$WORK/$name"
}
