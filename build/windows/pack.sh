# Packages for Windows, made on any system; sourced by build/package. Neither
# icon nor window needs cgo there.

# Puts icon, version and manifest into a program. Pinned: it runs at build time.
WINRES=github.com/tc-hib/go-winres@v0.3.3

# numbers: the version as Windows writes it, four numbers.
windows_numbers() {
	local core=${VERSION%%[-+]*}
	printf '%s.0' "$core"
}

windows_program() { # windows_program NAME PACKAGE TAGS LDFLAGS
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go build -trimpath -tags "$3" \
		-ldflags "-s -w $4 -X main.version=$(version)" -o "$WORK/windows/$1.exe" "$2" || return
	GOFLAGS=-mod=mod go run "$WINRES" patch --no-backup --in build/windows/winres.json \
		--product-version "$(windows_numbers)" --file-version "$(windows_numbers)" "$WORK/windows/$1.exe"
}

windows_programs() {
	mkdir -p "$WORK/windows"
	windows_program hearth ./app/hearth "" "" || return
	windows_program hearth-channels ./app/channels "$CHANNELS_TAGS" "" || return
	windows_program hearth-tray ./app/tray desktop -H=windowsgui || return
	windows_program hearth-window . desktop,production -H=windowsgui || return
	cp LICENSE "$NOTICES" README.md "$WORK/windows/"
	install -Dm644 -t "$WORK/windows/docs" docs/*.md
	chmod -R u=rwX,go=rX "$WORK/windows"
	find "$WORK/windows" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
}

windows_zip() {
	local name=hearth_${VERSION}_windows_amd64
	cp -a "$WORK/windows" "$WORK/$name"
	zipped "$OUT/$name.zip" "$name"
}

windows_installer() {
	makensis -NOCD -V2 -DVERSION="$VERSION" -DNUMBERS="$(windows_numbers)" -DLOGIN=Hearth \
		-DFILES="$WORK/windows" -DICON="$ROOT/build/icons/hearth.ico" \
		-DOUT="$OUT/hearth_${VERSION}_windows_amd64_setup.exe" build/windows/installer.nsi
}
