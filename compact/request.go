package compact

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Request is one conversation to compact. The JSON names are those of the body
// of POST /compact_conversation.
type Request struct {
	// Messages is the whole conversation: OpenAI chat messages, or messages with
	// Anthropic-style content blocks.
	Messages []jsontext.Value `json:"messages"`
	// Workspace is the name space of the originals; "" is "default".
	Workspace string `json:"workspace_id,omitempty"`
	// Conversation is the caller's name for the conversation.
	Conversation string `json:"conversation_id,omitempty"`
	// Model is the model that the conversation is for; it decides the token table.
	Model string `json:"model,omitempty"`
	// MaxInputTokens is the context size of the model; 0 means unknown. Fractions refer to
	// it, and a result above it is useless.
	MaxInputTokens int `json:"max_input_tokens,omitempty"`
	// TargetTokens is the target size, including tools and system messages; 0 leaves it to
	// the profile. Only the default profile and ra_aid have a target size.
	TargetTokens int `json:"target_tokens,omitempty"`
	// Tools are the tool schemas that are sent with each request; they count.
	Tools jsontext.Value `json:"tools,omitempty"`
	// ReportedTokens is what the provider counted for exactly these messages and tools; 0
	// means unknown. It corrects the estimate for models whose tokenizer is unknown.
	ReportedTokens int `json:"reported_tokens,omitempty"`
	// Profile is "default", "deerflow", "forge" or "ra_aid"; "" uses the configured one.
	Profile string `json:"profile,omitempty"`
	// Overrides is a JSON object that overrides the profile's settings.
	Overrides jsontext.Value `json:"overrides,omitempty"`
	// Pins are the numbers of messages that must stay as they are. A message can carry the
	// mark itself: "memoryd": {"pin": true}.
	Pins []int `json:"pins,omitempty"`
	// Force ignores triggers and the minimum gain, but not the safety rules. If
	// MaxInputTokens is below the conversation's size, the default profile then aims at
	// MaxInputTokens instead of a share of it.
	Force bool `json:"force,omitempty"`
	// DryRun computes everything without a model and stores nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Progress is called at each step; it must not block. A run has fewer than two events for each of
	// Messages, and ten.
	Progress func(Event) `json:"-"`
}

// Result answers a Request.
type Result struct {
	// Compacted reports whether the messages differ from the request's.
	Compacted bool `json:"compacted"`
	// Reason is the trigger of a compaction, otherwise what prevented it.
	Reason Reason `json:"reason"`
	// Detail is the reason as one sentence with its numbers.
	Detail string `json:"detail,omitempty"`
	// Messages is the conversation to continue with. Messages that were kept have their
	// original bytes.
	Messages []jsontext.Value `json:"messages" type:"object"`
	// Summary is the text of the summary message; "" if there is none.
	Summary string `json:"summary"`
	Report  Report `json:"report"`
}

// Reason is why a conversation was compacted or not.
type Reason string

// Reasons to compact.
const (
	ForTokens   Reason = "tokens"   // the token trigger fired
	ForMessages Reason = "messages" // the message trigger fired
	ForFraction Reason = "fraction" // the share of the model's window fired
	ForBuffer   Reason = "buffer"   // enough old tool calls had accumulated
	ForAge      Reason = "age"      // a tool call was too old
	Forced      Reason = "forced"   // the caller asked
)

// Reasons to return the input unchanged.
const (
	NotTriggered     Reason = "not_triggered"     // no trigger fired
	Disabled         Reason = "disabled"          // the profile is turned off
	NothingToRemove  Reason = "nothing_to_remove" // everything is protected or recent
	AlreadyCompacted Reason = "already_compacted" // nothing was added since the last compaction
	CoolingDown      Reason = "cooling_down"      // too little was added since the last compaction
	GainTooSmall     Reason = "gain_too_small"    // less would be freed than the configured minimum
	SystemTooLarge   Reason = "system_too_large"  // system messages and tools alone exceed the limit
	PinsTooLarge     Reason = "pins_too_large"    // pinned and excluded messages alone exceed the limit
	TailTooLarge     Reason = "tail_too_large"    // the recent messages that must stay exceed the limit
	ModelFailed      Reason = "model_failed"      // the model failed, and the caller does not accept an extract
	StoreFailed      Reason = "store_failed"      // originals could not be stored, so nothing was removed
	InvalidResult    Reason = "invalid_result"    // a strict provider would reject the result
)

// Disposition is what happened to a message.
type Disposition string

// The dispositions.
const (
	Kept       Disposition = "kept"
	Summarised Disposition = "summarised"
	Offloaded  Disposition = "offloaded"
	Excluded   Disposition = "excluded"
	Pinned     Disposition = "pinned"
)
