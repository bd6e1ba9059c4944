# Packages for macOS, made on a Mac; sourced by build/package.
#
# HEARTH_SIGN_IDENTITY signs with that identity of the keychain ("Developer ID
# Application: …"); without it the app is signed for this Mac alone, and others
# have to allow it in System Settings. Notarising is done with the signed image:
#   xcrun notarytool submit IMAGE --keychain-profile NAME --wait && xcrun stapler staple IMAGE

macos_icon() { # macos_icon FILE
	local set=$WORK/hearth.iconset size
	mkdir -p "$set"
	for size in 16 32 128 256; do
		sips -z "$size" "$size" build/icons/hearth-512.png --out "$set/icon_${size}x$size.png" >/dev/null || return
		sips -z $((size * 2)) $((size * 2)) build/icons/hearth-512.png --out "$set/icon_${size}x${size}@2x.png" >/dev/null || return
	done
	cp build/icons/hearth-512.png "$set/icon_512x512.png"
	iconutil --convert icns --output "$1" "$set"
}

macos_app() {
	local app=$WORK/image/Hearth.app/Contents core=${VERSION%%[-+]*} program
	mkdir -p "$app/MacOS" "$app/Resources"
	sed "s/@VERSION@/$core/" build/macos/Info.plist >"$app/Info.plist"
	plutil -lint -s "$app/Info.plist" || return
	for program in hearth hearth-channels hearth-tray hearth-window; do install -m755 "$BIN/$program" "$app/MacOS/$program"; done
	mkdir -p "$app/Resources/docs" && cp docs/*.md "$app/Resources/docs/" && cp LICENSE "$NOTICES" "$app/Resources/" || return
	macos_icon "$app/Resources/hearth.icns" || return
	# What is inside first, then the whole: a signature covers what it finds signed.
	for program in hearth hearth-channels hearth-window; do
		codesign --force --options runtime --sign "${HEARTH_SIGN_IDENTITY:--}" "$app/MacOS/$program" || return
	done
	codesign --force --options runtime --sign "${HEARTH_SIGN_IDENTITY:--}" "$WORK/image/Hearth.app"
}

macos_image() {
	ln -s /Applications "$WORK/image/Applications"
	hdiutil create -quiet -ov -fs HFS+ -format UDZO -volname Hearth -srcfolder "$WORK/image" \
		"$OUT/hearth_${VERSION}_macos_$(go env GOARCH).dmg"
}
