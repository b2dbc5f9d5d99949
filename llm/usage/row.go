package usage

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memoryd"
)

// Row is a line of the ledger: what one op used for one tool, by model or judge.
type Row struct {
	Workspace string `json:"workspace,omitempty"`
	// Tool is empty for requests without a tool, for the totals of the server, and after the first
	// thousand rows of a workspace in an hour.
	Tool string `json:"tool,omitempty"`
	Op   string `json:"op"`
	// By is "llm:<model>", "rules", "cache", "person", or "nobody" for calls whose evaluation
	// failed.
	By string `json:"by"`
	// Requests counts requests to a model.
	Requests int64 `json:"requests,omitempty"`
	// Failed counts those without an answer.
	Failed           int64 `json:"failed,omitempty"`
	PromptTokens     int64 `json:"prompt_tokens,omitempty"`
	CompletionTokens int64 `json:"completion_tokens,omitempty"`
	// Cost uses the prices and the currency of the time of counting; 0 if there were none.
	Cost float64 `json:"cost,omitempty"`
	// Verdicts counts the judged calls.
	Verdicts int64 `json:"verdicts,omitempty"`
}

// opEvaluate is the op that judges calls.
const opEvaluate = "evaluate"

// label is what tells the rows of one hour apart.
type label struct{ tool, op, by string }

func (r *Row) label() label { return label{r.Tool, r.Op, r.By} }

func (r *Row) add(o Row) {
	r.Requests += o.Requests
	r.Failed += o.Failed
	r.PromptTokens += o.PromptTokens
	r.CompletionTokens += o.CompletionTokens
	r.Cost += o.Cost
	r.Verdicts += o.Verdicts
}

// maxRows bounds the rows of an hour: beyond it tools are counted together, and
// beyond twice as many also the models, so that names from outside cannot make
// an hour grow without end.
const maxRows = 1000

// rows are the lines of a workspace's hour.
type rows map[label]*Row

func (rs rows) add(r Row) {
	l := r.label()
	if len(rs) >= maxRows && rs[l] == nil {
		l.tool = ""
		if len(rs) >= 2*maxRows && rs[l] == nil {
			l.by, _, _ = strings.Cut(l.by, ":")
		}
	}
	rs.at(l).add(r)
}

// at is the row with a label.
func (rs rows) at(l label) *Row {
	if rs[l] == nil {
		rs[l] = &Row{Tool: l.tool, Op: l.op, By: l.by}
	}
	return rs[l]
}

// sorted gives the rows by tool, op and who answered.
func (rs rows) sorted() []Row {
	list := make([]Row, 0, len(rs))
	for _, r := range rs {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Op, b.Op), cmp.Compare(a.By, b.By))
	})
	return list
}

// amount is what budgets count.
type amount struct{ requests, tokens int64 }

func (a amount) plus(b amount) amount { return amount{a.requests + b.requests, a.tokens + b.tokens} }

// amountOf adds rows up.
func amountOf(list []Row) (a amount) {
	for _, r := range list {
		a = a.plus(amount{r.Requests, r.PromptTokens + r.CompletionTokens})
	}
	return a
}

// maxTokens is more than any request has; a server that counts more is not
// believed, so that it can neither spend a budget at a stroke nor pass the range
// of a number.
const maxTokens = 10_000_000

func believed(tokens int) int64 { return int64(min(max(0, tokens), maxTokens)) }

// maxBy bounds who answered, in bytes: a model's server may name itself.
const maxBy = 200

// shortBy is who answered as the ledger says it: a person without the name.
func shortBy(by string) string {
	if by == "" {
		return "nobody"
	}
	if strings.HasPrefix(by, "person:") {
		return "person"
	}
	if len(by) > maxBy {
		by = strings.ToValidUTF8(by[:maxBy], "")
	}
	return by
}

// perPrice is for how many tokens a price is.
const perPrice = 1_000_000

// Price is the price of a million tokens of prompts and of answers, in your currency. The zero
// Price is unknown.
type Price struct{ Prompt, Completion float64 }

// Cost returns the cost of a request in the price's currency; 0 if the price is unknown. It treats
// negative token counts as 0, and limits huge ones to ten million.
func (p Price) Cost(u memoryd.Usage) float64 {
	return (p.Prompt*float64(believed(u.PromptTokens)) + p.Completion*float64(believed(u.CompletionTokens))) / perPrice
}

// Prices maps names of models to prices.
type Prices map[string]Price

// SetPrices sets the prices from now on. Costs that were counted before do not change. Call it
// before the first Attempt.
func (b *Ledger) SetPrices(p Prices) { b.prices = p }

// rounded drops what adding up in floating point leaves behind the ninth decimal.
func rounded(cost float64) float64 { return math.Round(cost*1e9) / 1e9 }
