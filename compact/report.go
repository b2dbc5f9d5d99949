package compact

// Report says what was done, what it cost and what it brought.
type Report struct {
	// ID names the compaction; Undo takes it. "" when nothing was changed.
	ID      string `json:"id,omitempty"`
	Profile string `json:"profile"`

	TokensBefore   int `json:"tokens_before"`
	TokensAfter    int `json:"tokens_after"`
	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`
	// Before and After say where the tokens are.
	Before Breakdown `json:"before"`
	After  Breakdown `json:"after"`

	// Target is the size aimed at; OverTarget is by how much it was missed.
	Target     int `json:"target_tokens,omitempty"`
	OverTarget int `json:"over_target_tokens,omitempty"`

	// ModelCalls counts requests to a model, failed ones too; the token counts
	// are what the models reported.
	ModelCalls            int `json:"model_calls"`
	ModelPromptTokens     int `json:"model_prompt_tokens"`
	ModelCompletionTokens int `json:"model_completion_tokens"`
	// ModelFailures says, one line each, why the extract stands in for a model.
	ModelFailures []string `json:"model_failures,omitempty"`
	// ReusedSummaries counts descriptions that came from an earlier run.
	ReusedSummaries int `json:"reused_summaries,omitempty"`

	// Groups is how many units were summarised, Batches in how many requests'
	// worth; OldestCallAge is the age of the oldest tool call found.
	Groups        int `json:"groups"`
	Batches       int `json:"batches"`
	OldestCallAge int `json:"oldest_call_age"`
	// WallSeconds is the time of the run; ModelSeconds the sum over its model
	// requests.
	WallSeconds  float64 `json:"wall_seconds"`
	ModelSeconds float64 `json:"model_seconds"`

	Cache Cache `json:"cache"`
	// ExcludedTools counts the calls that were left alone, by tool.
	ExcludedTools map[string]int `json:"excluded_tools,omitempty"`
	// Messages has one line for each message of the request.
	Messages []Fate `json:"messages"`
}

// Breakdown says where the tokens of a conversation are.
type Breakdown struct {
	System    int `json:"system"`
	Tools     int `json:"tools"`
	User      int `json:"user"`
	Assistant int `json:"assistant"`
	Results   int `json:"tool_results"`
	Summary   int `json:"summary"`
}

// Cache says what a provider's prompt cache makes of the change.
type Cache struct {
	// SharedMessages and SharedTokens are the unchanged beginning.
	SharedMessages int `json:"shared_messages"`
	SharedTokens   int `json:"shared_tokens"`
	// RewrittenTokens must be read anew once.
	RewrittenTokens int `json:"rewritten_tokens"`
	// SharedValue is what the cache saves on the unchanged beginning, in tokens
	// at full price.
	SharedValue float64 `json:"shared_value"`
	// BreakEvenRequests is after how many further requests the compaction has
	// paid for the rewritten tokens; 0 means at once.
	BreakEvenRequests int `json:"break_even_requests"`
}

// Fate is what became of one message of the request.
type Fate struct {
	Index       int         `json:"index"`
	Role        string      `json:"role"`
	Disposition Disposition `json:"disposition"`
	// Why is a few words: "recent", "system", "current request", "orphan result".
	Why string `json:"why"`
	// Tokens is the size before.
	Tokens int `json:"tokens"`
	// Original is the id under which the message can be fetched, when it changed.
	Original string `json:"original,omitempty"`
	// Output is the message's place in the result, -1 when it is not there.
	Output int `json:"output"`
}

// cachedPrice is what providers charge for a cached input token, against a full
// one.
const cachedPrice = 0.1

// cacheOf compares two lists by bytes.
func cacheOf(before, after []sized) Cache {
	var c Cache
	totalBefore, totalAfter := 0, 0
	same := true
	for i, m := range after {
		totalAfter += m.tokens
		if same = same && i < len(before) && string(before[i].raw) == string(m.raw); same {
			c.SharedMessages++
			c.SharedTokens += m.tokens
		}
	}
	for _, m := range before {
		totalBefore += m.tokens
	}
	c.RewrittenTokens = totalAfter - c.SharedTokens
	c.SharedValue = float64(c.SharedTokens) * (1 - cachedPrice)
	once := float64(c.RewrittenTokens) * (1 - cachedPrice)
	each := float64(totalBefore-totalAfter) * cachedPrice
	if gain := float64(totalBefore-totalAfter) * cachedPrice; once > gain && each > 0 {
		c.BreakEvenRequests = int((once-gain)/each) + 1
	}
	return c
}
