// Package webhook reads what a service sends to an address of ours: whose
// signature it carries (GitHub, Stripe, Slack, Standard Webhooks, or any HMAC), and
// which of its words go into a text. It keeps nothing, asks nobody and does not
// know what happens because of it: a replay is told by the id that Verify returns.
package webhook
