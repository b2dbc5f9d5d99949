// Package coldstart lets a tool with few calls borrow from tools of the same
// shape: those that take parameters of the same names and come from the same
// server. What is borrowed is shrunk, gives way to the tool's own calls, and is
// marked. Everything here is a pure function.
package coldstart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/preflight"
)

// Tool is what is known of a tool.
type Tool struct {
	memoryd.ToolRef
	// Server names where the tool comes from; "" takes it from the tool's name,
	// see ServerOf.
	Server string
	// Parameters are the names at the top level, in any order.
	Parameters []string
	// Judged and Failed count its judged calls and those that scored 0.
	Judged, Failed int
	// Document is its guideline; nil when it has none.
	Document *guidelines.Document
}

// Loan is what a tool borrows.
type Loan struct {
	// Prior is what to expect of its calls; nil when there is nobody to borrow
	// from.
	Prior *preflight.Prior
	// From are the lenders, most alike first.
	From []Lender
	// Items are statements of the lenders' guidelines that are about parameters
	// that the tool has, best first. Each says whom it is borrowed from.
	Items []guidelines.Item
}

// Lender is a tool that is borrowed from.
type Lender struct {
	memoryd.ToolRef
	// Likeness is from 0 to 1, the weight of what it lends.
	Likeness float64
}

const (
	// leastLikeness is how alike a lender must be, leastJudged how many judged
	// calls it needs.
	leastLikeness = 0.5
	leastJudged   = 20
	// otherServer is what of its likeness is left to a tool of another server.
	otherServer = 0.6
	mostLenders = 5
	mostItems   = 4
	// mostWeight bounds the prior, in calls: so many of its own calls count as
	// much as all that is borrowed.
	mostWeight = 10
	// ownCalls is from how many judged calls of its own on a tool borrows
	// nothing.
	ownCalls = 20
)

// ServerOf is the part of a tool's name that names its server by the usual
// conventions ("server__tool", "server.tool", "server/tool", "server:tool"); "" when
// there is none.
func ServerOf(tool string) string {
	for _, mark := range []string{"__", "/", ":", "."} {
		if server, name, ok := strings.Cut(tool, mark); ok && server != "" && name != "" {
			return server
		}
	}
	return ""
}

// Borrow tells what t may borrow of the others, of which t itself is left out.
func Borrow(t Tool, others []Tool) Loan {
	var loan Loan
	if t.Judged >= ownCalls || len(t.Parameters) == 0 {
		return loan
	}
	type lender struct {
		tool     Tool
		likeness float64
	}
	var lenders []lender
	for _, o := range others {
		if l := likeness(t, o); o.ToolRef != t.ToolRef && o.Workspace == t.Workspace && o.Judged >= leastJudged && l >= leastLikeness {
			lenders = append(lenders, lender{o, l})
		}
	}
	slices.SortFunc(lenders, func(a, b lender) int {
		return cmp.Or(cmp.Compare(b.likeness, a.likeness), cmp.Compare(b.tool.Judged, a.tool.Judged), cmp.Compare(a.tool.Tool, b.tool.Tool))
	})
	lenders = lenders[:min(len(lenders), mostLenders)]
	var rate, weight float64
	for _, l := range lenders {
		loan.From = append(loan.From, Lender{l.tool.ToolRef, l.likeness})
		// One call is added to each side, so that a lender without failures does
		// not promise that there are none.
		rate += l.likeness * float64(l.tool.Failed+1) / float64(l.tool.Judged+2)
		weight += l.likeness
		loan.Items = append(loan.Items, borrowed(t, l.tool, l.likeness)...)
	}
	if weight > 0 {
		loan.Prior = &preflight.Prior{Risk: rate / weight, Weight: min(mostWeight, mostWeight*weight/2)}
	}
	slices.SortStableFunc(loan.Items, func(a, b guidelines.Item) int { return cmp.Compare(b.Value, a.Value) })
	loan.Items = loan.Items[:min(len(loan.Items), mostItems)]
	return loan
}

// likeness is the share of parameter names that both have (Jaccard), less for
// tools of another server; unknown servers count as other ones.
func likeness(a, b Tool) float64 {
	shared := 0
	for _, p := range a.Parameters {
		if slices.Contains(b.Parameters, p) {
			shared++
		}
	}
	all := len(a.Parameters) + len(b.Parameters) - shared
	if all == 0 {
		return 0
	}
	l := float64(shared) / float64(all)
	server := cmp.Or(a.Server, ServerOf(a.Tool))
	if server == "" || server != cmp.Or(b.Server, ServerOf(b.Tool)) {
		l *= otherServer
	}
	return l
}

// borrowed lists the items of o that warn or advise on a parameter of t by what
// was mined: not what o is or how it does on the whole.
func borrowed(t, o Tool, likeness float64) []guidelines.Item {
	if o.Document == nil {
		return nil
	}
	var items []guidelines.Item
	for _, it := range o.Document.Items {
		if it.Section != "Common Issues" && it.Section != "Best Practices" || !slices.ContainsFunc(it.Evidence, mined) || !names(it.Text, t.Parameters) {
			continue
		}
		it.ID = "borrowed-" + strings.TrimPrefix(it.ID, "item-")
		it.Text = strings.TrimSuffix(it.Text, ".") + fmt.Sprintf(" (borrowed from %s).", guidelines.Name(o.Tool))
		it.Value *= likeness / 2
		items = append(items, it)
	}
	return items
}

// mined reports whether an id is that of a condition, alone or of two facts, or of
// a cost.
func mined(id string) bool {
	return strings.HasPrefix(id, "condition-") || strings.HasPrefix(id, "pair-") || strings.HasPrefix(id, "cost-")
}

// names reports whether every name in backticks is one of the parameters, and
// there is at least one.
func names(text string, parameters []string) bool {
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts); i += 2 {
		if !slices.Contains(parameters, parts[i]) {
			return false
		}
	}
	return len(parts) > 2
}
