package protocol

// UsageCostParams choose days: the last Days (30 when nothing is said), or
// from StartDate to EndDate.
type UsageCostParams struct {
	Days      int    `json:"days,omitempty"`
	StartDate string `json:"startDate,omitempty"` // 2026-03-02
	EndDate   string `json:"endDate,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
	// GroupBy is ours: model, session, account or day.
	GroupBy string `json:"groupBy,omitempty"`
}

// UsageTotals counts tokens and what is known of their cost.
type UsageTotals struct {
	Input          int     `json:"input"`
	Output         int     `json:"output"`
	CacheRead      int     `json:"cacheRead"`
	CacheWrite     int     `json:"cacheWrite"`
	TotalTokens    int     `json:"totalTokens"`
	TotalCost      float64 `json:"totalCost"`
	InputCost      float64 `json:"inputCost"`
	OutputCost     float64 `json:"outputCost"`
	CacheReadCost  float64 `json:"cacheReadCost"`
	CacheWriteCost float64 `json:"cacheWriteCost"`
	// MissingCostEntries is how many calls used tokens whose price nobody knows.
	MissingCostEntries int `json:"missingCostEntries"`
}

// UsageDay is one day.
type UsageDay struct {
	Date string `json:"date"`
	UsageTotals
}

// UsageGroup is ours: what has a model, a session, an account or a day in
// common.
type UsageGroup struct {
	Name   string `json:"name"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed,omitempty"`
	LastAt int64  `json:"lastAt,omitempty"`
	UsageTotals
	// Daily are the days of a model that was used, when models are asked for.
	Daily []UsageGroupDay `json:"daily,omitempty"`
}

// UsageGroupDay is ours: one day of a model.
type UsageGroupDay struct {
	Date        string  `json:"date"`
	TotalTokens int     `json:"totalTokens"`
	TotalCost   float64 `json:"totalCost"`
}

// UsageCost is the ledger.
type UsageCost struct {
	UpdatedAt int64        `json:"updatedAt"`
	Days      int          `json:"days"`
	Daily     []UsageDay   `json:"daily"`
	Totals    UsageTotals  `json:"totals"`
	Hearth    *UsageDetail `json:"hearth,omitempty"`
}

// UsageDetail is ours.
type UsageDetail struct {
	Currency string       `json:"currency"`
	Groups   []UsageGroup `json:"groups"`
}

// UsageStatus: Providers are windows that services report about themselves.
type UsageStatus struct {
	UpdatedAt int64           `json:"updatedAt"`
	Providers []any           `json:"providers"`
	Hearth    *UsageAllowance `json:"hearth,omitempty"`
}

// UsageAllowance is ours: how the allowance stands.
type UsageAllowance struct {
	Level      string  `json:"level"` // free, sparing, used
	Currency   string  `json:"currency"`
	Today      float64 `json:"today"`
	Month      float64 `json:"month"`
	Daily      float64 `json:"daily,omitempty"` // the limits, 0 = none
	Monthly    float64 `json:"monthly,omitempty"`
	CheapModel string  `json:"cheapModel,omitempty"`
	EndsAt     int64   `json:"endsAt,omitempty"` // of the period whose limit is nearest
	Message    string  `json:"message,omitempty"`
}

// UsageAllowParams is ours: other limits (0 = none), or one answer beyond them.
type UsageAllowParams struct {
	Daily   *float64 `json:"daily,omitempty"`
	Monthly *float64 `json:"monthly,omitempty"`
	Once    bool     `json:"once,omitempty"`
}
