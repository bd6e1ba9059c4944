package protocol

// CronProposal is something that the assistant said it would do, and that becomes
// a job when the person says yes.
type CronProposal struct {
	ID          string       `json:"id"`
	AgentID     string       `json:"agentId,omitempty"`
	SessionKey  string       `json:"sessionKey"`
	Kind        string       `json:"kind"` // reminder, task
	Text        string       `json:"text"`
	Schedule    CronSchedule `json:"schedule"`
	Words       string       `json:"words"` // the schedule, as a person says it
	Zone        string       `json:"zone,omitempty"`
	AtMs        int64        `json:"atMs"` // its first time
	CreatedAtMs int64        `json:"createdAtMs"`
}

// CronProposals are those that nobody has answered yet, the oldest first.
type CronProposals struct {
	Proposals []CronProposal `json:"proposals"`
}

// CronProposalParams answer a proposal. With When, in a person's words, it is
// another time.
type CronProposalParams struct {
	ID   string `json:"id"`
	Yes  bool   `json:"yes"`
	When string `json:"when,omitempty"`
}

// CronProposalAnswered says what came of it.
type CronProposalAnswered struct {
	OK  bool     `json:"ok"`
	Job *CronJob `json:"job,omitempty"`
}
