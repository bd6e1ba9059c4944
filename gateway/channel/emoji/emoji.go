// Package emoji knows the names that networks have for emoji where a reaction is
// named and not written. It owns nothing else; what a network does with a name is its
// client's business.
package emoji

import "strings"

// Name is what networks with names call an emoji; "" for one that has no name here.
func Name(emoji string) string {
	plain := strings.ReplaceAll(emoji, "\ufe0f", "")
	for _, tone := range []string{"\U0001F3FB", "\U0001F3FC", "\U0001F3FD", "\U0001F3FE", "\U0001F3FF"} {
		plain = strings.ReplaceAll(plain, tone, "")
	}
	return names()[plain]
}

// names are those that the common sets of emoji share.
func names() map[string]string {
	return map[string]string{
		"👍": "+1", "👎": "-1", "👌": "ok_hand", "👏": "clap", "🙏": "pray", "🙌": "raised_hands", "👋": "wave",
		"💪": "muscle", "🤝": "handshake",
		"✋": "hand", "☝": "point_up", "👆": "point_up_2", "👉": "point_right", "✍": "writing_hand", "👀": "eyes", "🧠": "brain", "❤": "heart",
		"💔": "broken_heart", "💯": "100", "🔥": "fire", "🎉": "tada", "✨": "sparkles", "⭐": "star", "🏆": "trophy", "🚀": "rocket", "💡": "bulb",
		"✅": "white_check_mark", "☑": "ballot_box_with_check", "✔": "heavy_check_mark", "❌": "x", "❎": "negative_squared_cross_mark",
		"⛔": "no_entry", "🚫": "no_entry_sign", "⚠": "warning", "❗": "exclamation", "❓": "question",
		"🛑": "octagonal_sign", "⏳": "hourglass_flowing_sand",
		"⌛": "hourglass", "⏰": "alarm_clock", "🕐": "clock1", "🔄": "arrows_counterclockwise", "🔍": "mag", "🔧": "wrench",
		"🔨": "hammer",
		"🛠": "hammer_and_wrench", "⚙": "gear", "🔒": "lock", "🔑": "key", "📌": "pushpin", "📎": "paperclip", "📅": "date", "📝": "memo",
		"📄": "page_facing_up", "📚": "books", "📷": "camera", "🎤": "microphone", "🔊": "loud_sound", "✉": "envelope", "📩": "envelope_with_arrow",
		"💬": "speech_balloon", "💭": "thought_balloon", "🤖": "robot_face", "💻": "computer", "🌐": "globe_with_meridians", "☕": "coffee",
		"🍕": "pizza", "🎂": "birthday", "🐛": "bug", "🦀": "crab", "🌙": "moon", "☀": "sunny", "🌈": "rainbow", "⚡": "zap",
		"😀": "grinning", "😃": "smiley", "😄": "smile", "😁": "grin", "😅": "sweat_smile", "😂": "joy", "🤣": "rolling_on_the_floor_laughing",
		"🙂": "slightly_smiling_face", "😉": "wink", "😊": "blush", "😍": "heart_eyes", "😎": "sunglasses", "🤔": "thinking_face", "😐": "neutral_face",
		"😴": "sleeping", "😢": "cry", "😭": "sob", "😡": "rage", "😱": "scream", "😨": "fearful", "🥱": "yawning_face", "🤯": "exploding_head",
		"🤷": "shrug", "🤦": "face_palm", "🫡": "saluting_face", "💀": "skull", "🙈": "see_no_evil",
	}
}

// Sign is the emoji that such networks call by a name; ":name:" for one that is not
// known here, as an emoji of a workspace's own.
func Sign(name string) string {
	plain, _, _ := strings.Cut(strings.Trim(name, ":"), "::") // a tone of skin follows
	switch plain {
	case "thumbsup":
		plain = "+1"
	case "thumbsdown":
		plain = "-1"
	}
	for sign, has := range names() {
		if has == plain {
			return sign
		}
	}
	return ":" + plain + ":"
}
