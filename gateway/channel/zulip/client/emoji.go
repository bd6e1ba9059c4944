package client

import "github.com/hearth-assistant/hearth/gateway/channel/emoji"

// emojiName is what Zulip calls an emoji: mostly as others do, and some as it alone
// does. "" is one of which no name holds for all servers.
func emojiName(sign string) string {
	common := emoji.Name(sign)
	if own, ok := ownNames()[common]; ok {
		return own
	}
	return common
}

// ownNames are Zulip's, by the common ones.
func ownNames() map[string]string {
	return map[string]string{
		"ok_hand": "ok", "point_up": "wait_one_second", "point_up_2": "point_up", "writing_hand": "writing", "bulb": "light_bulb",
		"white_check_mark": "check", "ballot_box_with_check": "checkbox", "heavy_check_mark": "check_mark", "x": "cross_mark",
		"negative_squared_cross_mark": "x", "no_entry_sign": "prohibited", "octagonal_sign": "stop_sign",
		"hourglass_flowing_sand": "time_ticking", "hourglass": "times_up", "clock1": "", "arrows_counterclockwise": "", "mag": "search",
		"wrench": "fixing", "hammer_and_wrench": "working_on_it", "lock": "locked", "pushpin": "push_pin", "date": "calendar",
		"page_facing_up": "document", "microphone": "", "loud_sound": "", "envelope": "email", "envelope_with_arrow": "mail_sent",
		"speech_balloon": "", "thought_balloon": "", "robot_face": "robot", "globe_with_meridians": "www", "zap": "high_voltage",
		"smile": "big_smile", "grin": "", "slightly_smiling_face": "", "thinking_face": "thinking", "neutral_face": "neutral",
		"fearful": "fear", "yawning_face": "", "exploding_head": "", "saluting_face": "",
	}
}
