package prompt

import "strings"

// ContributionFor is what is added for a family of models. A service is no
// family: the same model is offered by several. Other models get nothing.
func ContributionFor(modelID string) Contribution {
	if inFamily(modelID, "gpt-5") {
		return Contribution{StablePrefix: gpt5Prefix, InteractionStyle: gpt5Interaction, ExecutionBias: gpt5Execution}
	}
	return Contribution{}
}

// inFamily finds a family in the names that services give to a model:
// "gpt-5.2", "openai/gpt-5-mini", "azure/gpt-5/eu".
func inFamily(modelID, family string) bool {
	for part := range strings.SplitSeq(strings.ToLower(modelID), "/") {
		rest, ok := strings.CutPrefix(part, family)
		if ok && (rest == "" || rest[0] < '0' || rest[0] > '9') { // gpt-50 would be another one
			return true
		}
	}
	return false
}

const (
	gpt5Prefix = `Who you are, and how you talk, is written in the workspace's files below. Keep to it from the first answer to the last, through long tool work too; do not slip back into a neutral voice.`

	gpt5Interaction = `Answer plainly and briefly, in the person's language; use Markdown where it helps. Be warm without flattery. Say so when you do not know.
Begin with the result. Leave out what the person knows, what you are about to do, and a summary of what stands above. Headings and lists only where there is more than one thing to find.`

	gpt5Execution = `Act in this turn on what was asked; do not end with a plan or a promise. Go on until it is done or truly blocked.
Calls that do not depend on each other belong into one step. Look up what can change. Read the part that you need, not everything.
Cover each thing that was asked for: before you end, go through the request once more and name what is missing. Check the result with a tool before you say that it is done.
If something that you need is missing, look for it with tools first; ask only when a wrong guess would cost more than the question.
Commands: one clear purpose each, no prompts that wait for a key, no pagers, bounded output.`
)
