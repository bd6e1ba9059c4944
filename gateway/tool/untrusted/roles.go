package untrusted

import "strings"

// Roles takes the words apart with which chat templates of local models set
// roles: in text from outside they would begin a turn of somebody else.
func Roles(text string) string { return templateMarks.Replace(text) }

// templateMarks are what chat templates of local models set roles with.
var templateMarks = strings.NewReplacer(
	"<|", "< |", "|>", "| >", "<｜", "< ｜", "｜>", "｜ >",
	"[INST]", "[ INST]", "[/INST]", "[/ INST]", "<<SYS>>", "< <SYS>>", "<</SYS>>", "< </SYS>>",
	"<start_of_turn>", "< start_of_turn>", "<end_of_turn>", "< end_of_turn>", "<s>", "< s>", "</s>", "< /s>",
)
