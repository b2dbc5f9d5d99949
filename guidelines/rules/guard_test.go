package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A name that the run has used is refused unless another parameter allows it: the line says so, also where
// some names work that the run has not used.
func TestAUsedNameIsRefusedUnlessAnotherParameterAllowsIt(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 80 {
		input := fmt.Sprintf(`{"name":"k%d"}`, i%9)
		used := i%4 > 1
		if i%4 == 2 {
			input = fmt.Sprintf(`{"name":"k%d","overwrite":true}`, i%9)
		}
		c := call(i, input, "")
		if used {
			c.Last = []Used{{Path: "name", In: "own name"}}
		}
		if c.Bad = i%4 == 3; c.Bad {
			c.Message = "the entry exists"
		}
		calls = append(calls, c)
	}
	found := Find("own", calls)
	if got, want := lines(found), "Where `overwrite` is not given, give no `name` that the run last used in `own`\n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	text, err := json.Marshal(found[0])
	var kept Rule
	if err != nil || json.Unmarshal(text, &kept) != nil {
		t.Fatalf("it cannot be stored: %v", err)
	}
	for input, want := range map[string]bool{`{"name":"k1"}`: true, `{"name":"k1","overwrite":true}`: false} {
		planned := call(90, input, "")
		planned.Last = []Used{{Path: "name", In: "own name"}}
		if found[0].Holds(Plan(&planned)) != want || kept.Holds(Plan(&planned)) != want {
			t.Errorf("%s: warned of is %v", input, !want)
		}
	}
	other := found[0]
	if other.when.not = false; other.ID() == found[0].ID() {
		t.Error("what holds where a parameter is given has the same name")
	}
}

// A part of the calls is told only where it makes a difference: two good calls outside of it met the condition.
func TestAPartOfTheCallsIsToldWhereGoodCallsOutsideMetTheCondition(t *testing.T) {
	t.Parallel()
	of := func(more ...Call) bool {
		calls := append([]Call{call(0, `{"hash":"none"}`, "no file"), call(1, `{"hash":"a"}`, ""), call(2, `{"hash":"none","line":1}`, "")}, more...)
		g := guard{where: "line", not: true}
		return (&search{guard: g, whole: rowsOf("own", calls, Compared)}).parted(hypothesis{what: is, p: "hash", set: []string{"none"}, guard: g})
	}
	for _, tc := range []struct {
		name string
		more Call
		want bool
	}{
		{"a good call outside that met it", call(3, `{"hash":"none","line":2}`, ""), true},
		{"a bad one", call(3, `{"hash":"none","line":2}`, "locked"), false},
		{"one that did not meet it", call(3, `{"hash":"b","line":2}`, ""), false},
		{"one of the part", call(3, `{"hash":"none"}`, ""), false},
	} {
		if of(tc.more) != tc.want {
			t.Errorf("%s: told is %v", tc.name, !tc.want)
		}
	}
}

// Where two conditions explain as much, the one is told that says what to do first, then what the run did with a value,
// then how the value is written.
func TestWhatTheRunDidWithAValueIsToldBeforeHowItIsWritten(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 60 {
		c := call(i, fmt.Sprintf(`{"old_branch":"fix-%d"}`, i%10), "")
		c.Last = []Used{{Path: "old_branch", In: "create_branch name"}}
		if i%6 == 0 {
			c = call(i, fmt.Sprintf(`{"old_branch":%q}`, []string{"trunk", "develop", "master"}[i/6%3]), "it does not exist")
		}
		calls = append(calls, c)
	}
	if got, want := lines(Find("own", calls)), "Give an `old_branch` that the run last used in `create_branch` (as `name`)\n"; !strings.HasPrefix(got, strings.TrimSpace(want)) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What an answer says beside a value is to blame only where it said something else beside a value that worked.
func TestAStateIsToldOnlyWhereAnotherWorked(t *testing.T) {
	t.Parallel()
	of := func(good string) string {
		var calls []Call
		for i := range 60 {
			c := call(i, fmt.Sprintf(`{"tag":"v%d.%d"}`, i, i%3), "")
			c.Last, c.Sources = []Used{}, []Source{{Path: "tag", Tool: "list_tags", State: good}}
			if i%6 == 0 {
				c = call(i, fmt.Sprintf(`{"tag":"v%d.%d"}`, i, i%3), "the release exists")
				c.Last, c.Sources = []Used{{Path: "tag", In: "own tag"}}, []Source{{Path: "tag", Tool: "own", State: "draft=false"}}
			}
			calls = append(calls, c)
		}
		return lines(Find("own", calls))
	}
	if got, want := of("draft=true"), "Give no `tag` whose `draft` was `false` in an earlier answer (`true` worked)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := of(""), "Give no `tag` that the run last used in `own`\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A color is told by its form, for it begins with a mark.
func TestTheFormOfAColorIsTold(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 60 {
		message := ""
		color := fmt.Sprintf("#%c%cabcd", 'a'+i%6, 'a'+i/6%6)
		if i%6 == 0 {
			color, message = []string{"red", "ff00", "#zzz", "blue"}[i/6%4], "bad color code"
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"color":%q}`, color), message))
	}
	if got, want := lines(Find("own", calls)), "Write `color` like `#AAAAAA` (A a letter, 0 a digit)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A text that is empty is to blame where good calls gave one that is not: each message of it is the same, and so is the text.
func TestAnEmptyTextIsToldNotToBeLeftEmpty(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 60 {
		c := call(i, fmt.Sprintf(`{"title":"crash of %d machines","n":%d}`, i, i%4), "")
		if i%10 == 0 {
			c = call(i, fmt.Sprintf(`{"title":"","n":%d}`, i%4), "[T]: required")
		}
		calls = append(calls, c)
	}
	found := Find("own", calls)
	if got, want := lines(found), "Do not leave `title` empty\n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	for input, want := range map[string]bool{`{"title":""}`: true, `{"title":"x"}`: false, `{}`: false} {
		planned := call(90, input, "")
		if found[0].Holds(Plan(&planned)) != want {
			t.Errorf("%s: warned of is %v", input, !want)
		}
	}
}

// Of the values that were used before, that is told which says what thing it was.
func TestOfValuesUsedBeforeTheOneThatVariesMostIsTold(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 60 {
		c := call(i, fmt.Sprintf(`{"Do":%q,"index":%d}`, []string{"merge", "squash"}[i%2], i%7), "")
		c.Before, c.Newest, c.Named, c.Run = []string{"own"}, []uint8{0}, true, uint64(i/12+1) //nolint:gosec // small
		if i%6 == 0 {
			c.Bad, c.Message = true, "it is merged already"
			c.Last = []Used{{Path: "Do", In: "own Do"}, {Path: "index", In: "own index"}}
		}
		calls = append(calls, c)
	}
	if got, want := lines(Find("own", calls)), "Give no `index` that the run last used in `own`\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What was done with a value is told before the order of calls that came with it: nothing needs to be made anew.
func TestAValueThatWasUsedIsToldBeforeTheOrderOfCalls(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 60 {
		c := call(i, fmt.Sprintf(`{"repo":"r%d","branch":"b%d"}`, i/4, i%9), "")
		c.Before, c.Newest = []string{"create_repository"}, []uint8{0}
		c.Last = []Used{{Path: "repo", In: "create_repository name"}}
		if i%6 == 0 {
			c = call(i, fmt.Sprintf(`{"repo":"r%d","branch":"b%d"}`, i/4, i%9), "the protection exists")
			c.Before, c.Newest, c.Again = []string{"create_repository", "own"}, []uint8{1, 0}, true
			c.Last = []Used{{Path: "repo", In: "own repo"}, {Path: "branch", In: "own branch"}}
		}
		c.Named, c.Run = true, uint64(i/4+1) //nolint:gosec // small
		calls = append(calls, c)
	}
	if got, want := lines(Find("own", calls)), "Give no `branch` that the run last used in `own`\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A hint is told of too few calls to know what else an answer may say beside a value that works.
func TestAHintNeedsNoOtherStateThatWorked(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 12 {
		c := call(i, fmt.Sprintf(`{"reservation":"R%dX%d"}`, i, i), "")
		c.Named, c.Run = true, uint64(i/6+1) //nolint:gosec // small
		if c.Sources = []Source{{Path: "reservation", Tool: "look_up"}}; i%4 == 1 {
			c.Bad, c.Message, c.Sources[0].State = true, "it cannot be changed", "cabin=basic"
		}
		calls = append(calls, c)
	}
	if got := lines(Hints("own", calls, nil)); !strings.Contains(got, "Give no `reservation` whose `cabin` was `basic` in an earlier answer\n") {
		t.Errorf("got %q", got)
	}
}
