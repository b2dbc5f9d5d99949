package compact

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Request is one conversation to compact. The JSON names are those of the body
// of POST /compact_conversation.
type Request struct {
	// Messages is the whole conversation, OpenAI chat messages or messages with
	// Anthropic-style content blocks.
	Messages []jsontext.Value `json:"messages"`
	// Workspace is the name space that originals are stored in; "" is "default".
	Workspace string `json:"workspace_id,omitempty"`
	// Conversation is the caller's name for the conversation; the spend cap is
	// kept per conversation.
	Conversation string `json:"conversation_id,omitempty"`
	// Model is the model that the conversation is for; it picks the token table.
	Model string `json:"model,omitempty"`
	// MaxInputTokens is what the model takes; 0 means unknown. It is what
	// fractions refer to, and a result above it is no help.
	MaxInputTokens int `json:"max_input_tokens,omitempty"`
	// TargetTokens is the size that the result should have, tools and system
	// messages counted; 0 leaves it to the profile. Only the default profile and
	// ra_aid aim at a size.
	TargetTokens int `json:"target_tokens,omitempty"`
	// Tools are the tool schemas that go with each request; they count.
	Tools jsontext.Value `json:"tools,omitempty"`
	// ReportedTokens is what the provider reported for exactly these messages and
	// tools, 0 when nothing is known. It teaches how far the estimate is off for
	// this model, where its tokenizer is not known.
	ReportedTokens int `json:"reported_tokens,omitempty"`
	// Profile is "default", "deerflow", "forge" or "ra_aid"; "" takes the
	// configured one.
	Profile string `json:"profile,omitempty"`
	// Overrides is a JSON object laid over the profile's settings.
	Overrides jsontext.Value `json:"overrides,omitempty"`
	// Pins are the numbers of messages that must stay as they are. A message can
	// also carry the mark itself: "memoryd": {"pin": true}.
	Pins []int `json:"pins,omitempty"`
	// Force ignores triggers and minimum gain, not the rules of safety. With
	// MaxInputTokens below the conversation's size, the default profile then aims
	// at MaxInputTokens itself instead of a share of it.
	Force bool `json:"force,omitempty"`
	// DryRun computes everything without a model and stores nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Progress is told of each step; it must not block. See Feed.
	Progress func(Event) `json:"-"`
}

// Result answers a Request.
type Result struct {
	// Compacted says whether Messages differ from the request's.
	Compacted bool `json:"compacted"`
	// Reason is why: a trigger when Compacted, else what stood against it.
	Reason Reason `json:"reason"`
	// Detail is the reason in one sentence with its numbers.
	Detail string `json:"detail,omitempty"`
	// Messages is the conversation to go on with. Those that were kept have the
	// bytes that were sent.
	Messages []jsontext.Value `json:"messages"`
	// Summary is the text of the summary message, "" when there is none.
	Summary string `json:"summary"`
	Report  Report `json:"report"`
}

// Reason says why a conversation was compacted or why not.
type Reason string

// Reasons to compact.
const (
	ForTokens   Reason = "tokens"   // the token trigger fired
	ForMessages Reason = "messages" // the message trigger fired
	ForFraction Reason = "fraction" // the share of the model's window fired
	ForBuffer   Reason = "buffer"   // enough old tool calls had gathered
	ForAge      Reason = "age"      // a tool call was too old
	Forced      Reason = "forced"   // the caller asked
)

// Reasons to return the input.
const (
	NotTriggered     Reason = "not_triggered"     // no trigger fired
	Disabled         Reason = "disabled"          // the profile is turned off
	NothingToRemove  Reason = "nothing_to_remove" // all is protected or recent
	AlreadyCompacted Reason = "already_compacted" // nothing was added since the last compaction
	CoolingDown      Reason = "cooling_down"      // too little was added since the last compaction
	GainTooSmall     Reason = "gain_too_small"    // less would be freed than the configured minimum
	SystemTooLarge   Reason = "system_too_large"  // system messages and tools alone exceed the limit
	PinsTooLarge     Reason = "pins_too_large"    // pinned and excluded messages alone exceed the limit
	TailTooLarge     Reason = "tail_too_large"    // what must stay of the recent messages exceeds the limit
	ModelFailed      Reason = "model_failed"      // the model failed and the caller wants no extract
	StoreFailed      Reason = "store_failed"      // originals could not be stored, so nothing was removed
	InvalidResult    Reason = "invalid_result"    // the result would break a rule of strict providers
)

// Disposition says what became of a message.
type Disposition string

// The dispositions.
const (
	Kept       Disposition = "kept"
	Summarised Disposition = "summarised"
	Offloaded  Disposition = "offloaded"
	Excluded   Disposition = "excluded"
	Pinned     Disposition = "pinned"
)
