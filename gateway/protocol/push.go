package protocol

// PushKey is the key by which push services know this gateway (VAPID).
type PushKey struct {
	VapidPublicKey string `json:"vapidPublicKey"` // base64url of the point, uncompressed
}

// PushKeys are a browser's: what is sent to it is encrypted for them.
type PushKeys struct {
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// PushSubscribeParams are a browser's PushSubscription.
type PushSubscribeParams struct {
	Endpoint string   `json:"endpoint"`
	Keys     PushKeys `json:"keys"`
}

// PushSubscribed names a subscription.
type PushSubscribed struct {
	SubscriptionID string `json:"subscriptionId"`
}

// PushEndpointParams name a subscription of the caller's device.
type PushEndpointParams struct {
	Endpoint string `json:"endpoint"`
}

// PushUnsubscribed says whether there was one.
type PushUnsubscribed struct {
	Removed bool `json:"removed"`
}

// PushTestParams are words for a trial, which is sent to the caller's device.
type PushTestParams struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
}

// PushTested is what the push services said to a trial.
type PushTested struct {
	Results []PushTrial `json:"results"`
}

// PushTrial is what became of one of them.
type PushTrial struct {
	SubscriptionID string `json:"subscriptionId"`
	OK             bool   `json:"ok"`
	StatusCode     int    `json:"statusCode,omitempty"`
	Error          string `json:"error,omitempty"` // in plain words
}

// PushCategories are what a device is told of. Reminder is ours.
type PushCategories struct {
	ApprovalRequested    bool `json:"approvalRequested"`
	AgentFinished        bool `json:"agentFinished"`
	AgentQuestion        bool `json:"agentQuestion"`
	HumanMentioned       bool `json:"humanMentioned"`
	ScheduledTaskFailed  bool `json:"scheduledTaskFailed"`
	BackgroundTaskFailed bool `json:"backgroundTaskFailed"`
	Reminder             bool `json:"hearthReminder"`
}

// PushQuietHours are those in which a device is left alone. The end may be before
// the start: over midnight.
type PushQuietHours struct {
	Enabled     bool   `json:"enabled"`
	StartMinute int    `json:"startMinute"` // of the day
	EndMinute   int    `json:"endMinute"`
	TimeZone    string `json:"timeZone"`
}

// PushPreferences are what holds for a device. DetailLevel says what leaves the
// machine: private (that there is news), identified (of what kind, and which chat)
// or detailed (the words).
type PushPreferences struct {
	Categories  PushCategories `json:"categories"`
	DetailLevel string         `json:"detailLevel"`
	QuietHours  PushQuietHours `json:"quietHours"`
	AgentIDs    []string       `json:"agentIds"` // empty: all
}

// PushChosen are the categories that a person decided about.
type PushChosen struct {
	ApprovalRequested    *bool `json:"approvalRequested,omitempty"`
	AgentFinished        *bool `json:"agentFinished,omitempty"`
	AgentQuestion        *bool `json:"agentQuestion,omitempty"`
	HumanMentioned       *bool `json:"humanMentioned,omitempty"`
	ScheduledTaskFailed  *bool `json:"scheduledTaskFailed,omitempty"`
	BackgroundTaskFailed *bool `json:"backgroundTaskFailed,omitempty"`
	Reminder             *bool `json:"hearthReminder,omitempty"`
}

// PushDevicePreferences are what a person chose for a device; what is missing is as
// for everybody.
type PushDevicePreferences struct {
	Enabled     bool            `json:"enabled"`
	Label       string          `json:"label"`
	Categories  *PushChosen     `json:"categories,omitempty"`
	DetailLevel string          `json:"detailLevel,omitempty"`
	QuietHours  *PushQuietHours `json:"quietHours,omitempty"`
	AgentIDs    []string        `json:"agentIds,omitempty"`
}

// PushPreferencesSetParams change them; Scope is "device".
type PushPreferencesSetParams struct {
	Endpoint    string                `json:"endpoint"`
	Scope       string                `json:"scope"`
	Preferences PushDevicePreferences `json:"preferences"`
}

// PushPreferencesResult is what was chosen and what follows from it.
type PushPreferencesResult struct {
	DurableIdentity bool                  `json:"durableIdentity"` // false: there are no profiles of people
	User            PushPreferences       `json:"user"`
	Device          PushDevicePreferences `json:"device"`
	Effective       PushEffective         `json:"effective"`
}

// PushEffective is what holds for a device.
type PushEffective struct {
	PushPreferences
	Enabled bool   `json:"enabled"`
	Label   string `json:"label"`
}

// PushOpenParams hold what a notification carried.
type PushOpenParams struct {
	Ref string `json:"ref"`
}

// PushPlace is where the news of a notification is. Found is false for one that is
// too old.
type PushPlace struct {
	Found      bool   `json:"found"`
	Kind       string `json:"kind,omitempty"` // answer, approval, reminder, failure, test
	SessionKey string `json:"sessionKey,omitempty"`
	ApprovalID string `json:"approvalId,omitempty"`
}
