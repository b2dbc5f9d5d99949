package compact

import "github.com/go-json-experiment/json/jsontext"

// Report describes what was done, its cost and its benefit.
type Report struct {
	// ID identifies the compaction for Undo; "" if nothing was changed.
	ID      string `json:"id,omitempty"`
	Profile string `json:"profile"`

	TokensBefore   int `json:"tokens_before"`
	TokensAfter    int `json:"tokens_after"`
	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`
	// Where the tokens are, before and after.
	Before Breakdown `json:"before"`
	After  Breakdown `json:"after"`

	// Target is the target size.
	Target int `json:"target_tokens,omitempty"`
	// OverTarget is by how much it was missed.
	OverTarget int `json:"over_target_tokens,omitempty"`

	// ModelCalls counts requests to a model, including failed ones; the token counts are
	// those of the models.
	ModelCalls            int `json:"model_calls"`
	ModelPromptTokens     int `json:"model_prompt_tokens"`
	ModelCompletionTokens int `json:"model_completion_tokens"`
	// ModelFailures lists why the extract replaces a model, one line each.
	ModelFailures []string `json:"model_failures,omitempty"`
	// ReusedSummaries counts descriptions that came from an earlier run.
	ReusedSummaries int `json:"reused_summaries,omitempty"`

	// Groups counts summarised units.
	Groups int `json:"groups"`
	// Batches counts the requests that they fill.
	Batches int `json:"batches"`
	// OldestCallAge is the age of the oldest tool call.
	OldestCallAge int `json:"oldest_call_age"`
	// WallSeconds is the duration of the run.
	WallSeconds float64 `json:"wall_seconds"`
	// ModelSeconds is the sum of its model requests.
	ModelSeconds float64 `json:"model_seconds"`

	Cache Cache `json:"cache"`
	// ExcludedTools counts the calls that were not touched, by tool.
	ExcludedTools map[string]int `json:"excluded_tools,omitempty"`
	// Messages has one entry per message of the request.
	Messages []Fate `json:"messages"`
}

// Breakdown shows where the tokens of a conversation are.
type Breakdown struct {
	System    int `json:"system"`
	Tools     int `json:"tools"`
	User      int `json:"user"`
	Assistant int `json:"assistant"`
	Results   int `json:"tool_results"`
	Summary   int `json:"summary"`
}

// Cache estimates what the change means for a provider's prompt cache.
type Cache struct {
	// The unchanged beginning.
	SharedMessages int `json:"shared_messages"`
	SharedTokens   int `json:"shared_tokens"`
	// RewrittenTokens must be read once without the cache.
	RewrittenTokens int `json:"rewritten_tokens"`
	// SharedValue is what the cache saves on the unchanged beginning, in full-price tokens.
	SharedValue float64 `json:"shared_value"`
	// BreakEvenRequests is the number of further requests after which the compaction has paid
	// for the rewritten tokens; 0 means at once.
	BreakEvenRequests int `json:"break_even_requests"`
}

// Fate is what happened to one message of the request.
type Fate struct {
	Index       int         `json:"index"`
	Role        string      `json:"role"`
	Disposition Disposition `json:"disposition" enum:"kept,summarised,offloaded,excluded,pinned"`
	// Why gives the reason in a few words: "recent", "system", "current request", "orphan
	// result".
	Why string `json:"why"`
	// Tokens is the size before.
	Tokens int `json:"tokens"`
	// Original is the id under which the message can be fetched, if it changed.
	Original string `json:"original,omitempty"`
	// Output is the message's place in the result; -1 if it is not there.
	Output int `json:"output"`
}

// cachedPrice is what providers charge for a cached input token, against a full
// one.
const cachedPrice = 0.1

// cache compares the messages that were sent with a new list by bytes.
func (c *conversation) cache(after []jsontext.Value, cost []int) (out Cache) {
	totalBefore, totalAfter := 0, 0
	same := true
	for i, raw := range after {
		totalAfter += cost[i]
		if same = same && i < len(c.messages) && string(c.sentRaw(i)) == string(raw); same {
			out.SharedMessages++
			out.SharedTokens += cost[i]
		}
	}
	for _, n := range c.cost {
		totalBefore += n
	}
	out.RewrittenTokens = totalAfter - out.SharedTokens
	out.SharedValue = float64(out.SharedTokens) * (1 - cachedPrice)
	once := float64(out.RewrittenTokens) * (1 - cachedPrice)
	if each := float64(totalBefore-totalAfter) * cachedPrice; once > each && each > 0 {
		out.BreakEvenRequests = int((once-each)/each) + 1
	}
	return out
}
