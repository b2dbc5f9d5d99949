package usage

import (
	"math"

	"memoryd"
)

// perPrice is for how many tokens a price is.
const perPrice = 1_000_000

// Price is what a million tokens of prompts and of answers cost, in a currency of
// the user's own. The zero Price is unknown.
type Price struct{ Prompt, Completion float64 }

// Cost of what a request used, in the price's currency; 0 while that is unknown.
// Counts of tokens that cannot be are taken for nothing or ten million.
func (p Price) Cost(u memoryd.Usage) float64 {
	return (p.Prompt*float64(believed(u.PromptTokens)) + p.Completion*float64(believed(u.CompletionTokens))) / perPrice
}

// Prices are those of models, by their names.
type Prices map[string]Price

// SetPrices names what models cost from now on; what was counted before keeps its
// cost. It comes before the first Attempt.
func (b *Ledger) SetPrices(p Prices) { b.prices = p }

// rounded drops what adding up in floating point leaves behind the ninth decimal.
func rounded(cost float64) float64 { return math.Round(cost*1e9) / 1e9 }
