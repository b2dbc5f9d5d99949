package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"memoryd/guidelines/effect"
	"memoryd/internal/lifecycle"
)

type digestCmd struct {
	remote
	jsonOutput
}

type effectCmd struct {
	remote
	jsonOutput
}

type runsCmd struct {
	remote
	jsonOutput
	Limit int `default:"20" help:"Number of runs to show."`
}

// Run prints the runs of agents, those without progress first.
func (c runsCmd) Run(ctx context.Context, std streams) error {
	if _, _, err := c.overviewOf(ctx); err != nil { // it waits until the workspace is read
		return err
	}
	workspace := c.here()
	var page json.RawMessage
	if err := c.get(ctx, fmt.Sprintf("/v1/workspaces/%s/runs?limit=%d", url.PathEscape(workspace), c.Limit), &page); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, page)
	}
	var list struct{ Runs []rankedRun }
	if err := json.Unmarshal(page, &list); err != nil {
		return err
	}
	return printTable(std, false, "RUN, CALLS, FAILED, REPEATED, ADVICE, WHAT HAPPENED", list.Runs, func(r rankedRun) []any {
		why := onTerminal(cmp.Or(strings.Join(r.Why, "; "), "-"), 120)
		return []any{onTerminal(r.Run, 40), r.Calls, r.Failed, r.Repeats, cmp.Or(r.Told, "-"), why}
	})
}

// rankedRun is what a table shows of a run.
type rankedRun struct {
	Run, Told              string
	Calls, Failed, Repeats int
	Why                    []string
}

// overview is what the commands show of a workspace's overview.
type overview struct {
	Reading        bool
	Until          string
	Judged, Unsure int
	Causes         []struct {
		Tool       string `json:"tool_name"`
		Text       string
		Week       int
		WeekBefore int `json:"week_before"`
	}
	ThisWeek weekOf `json:"this_week"`
	LastWeek weekOf `json:"last_week"`
	Effect   effect.Effect
}

type weekOf struct {
	Calls, Failed int
	Written       int `json:"guidelines_written"`
}

// overviewOf waits until the server has read the workspace. It also returns the whole answer.
func (c remote) overviewOf(ctx context.Context) (o overview, whole json.RawMessage, err error) {
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		o = overview{}
		if err = c.get(ctx, "/v1/workspaces/"+url.PathEscape(c.here())+"/overview?by=cost", &whole); err == nil {
			err = json.Unmarshal(whole, &o)
		}
		if err != nil || !o.Reading {
			return o, whole, err
		}
		if !lifecycle.Sleep(ctx, min(wait, 2*time.Second)) {
			return o, nil, ctx.Err()
		}
	}
}

// Run prints whether advice helps.
func (c effectCmd) Run(ctx context.Context, std streams) error {
	o, _, err := c.overviewOf(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, o.Effect)
	}
	var b strings.Builder
	fold(&b, "", "", o.Effect.Verdict()+".")
	fold(&b, "", "", o.Effect.Because())
	_, err = fmt.Fprint(std.out, b.String())
	return err
}

// digestMistakes is how many mistakes a digest tells.
const digestMistakes = 3

// Run prints the last week as Markdown.
func (c digestCmd) Run(ctx context.Context, std streams) error {
	o, whole, err := c.overviewOf(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, whole)
	}
	_, err = fmt.Fprint(std.out, digest(&o))
	return err
}

func digest(o *overview) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## memoryd: the week to %s\n\n", strings.SplitN(o.Until, "T", 2)[0])
	if o.Judged == 0 {
		b.WriteString("No call is judged yet.\n")
		return b.String()
	}
	earlier := ""
	if w := o.LastWeek; w.Calls > 0 {
		earlier = ", the week before " + percent(w.Failed, w.Calls)
	}
	fmt.Fprintf(&b, "- **%s failed** (%d of %d calls)%s.\n", percent(o.ThisWeek.Failed, o.ThisWeek.Calls), o.ThisWeek.Failed,
		o.ThisWeek.Calls, earlier)
	fmt.Fprintf(&b, "- **%s.** %s\n", o.Effect.Verdict(), o.Effect.Because())
	if n := o.ThisWeek.Written; n > 0 {
		fmt.Fprintf(&b, "- Guidelines of %s were updated.\n", counted(n, "tool"))
	}
	if o.Unsure > 0 {
		fmt.Fprintf(&b, "- %s wait for your review.\n", counted(o.Unsure, "call"))
	}
	b.WriteString("\n### Most expensive mistakes\n\n")
	for i, cause := range o.Causes[:min(digestMistakes, len(o.Causes))] {
		fmt.Fprintf(&b, "%d. `%s`: %s this week, %d the week before\n   > `%s`\n", i+1, inline(cause.Tool),
			counted(cause.Week, "call"), cause.WeekBefore, inline(cause.Text))
	}
	if len(o.Causes) == 0 {
		b.WriteString("Nothing went wrong.\n")
	}
	return b.String()
}

// inline is foreign text within backticks: it makes no link, no mention and no heading.
func inline(s string) string { return strings.ReplaceAll(onTerminal(s, 160), "`", "'") }
