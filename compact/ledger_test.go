package compact_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"memoryd/compact"
)

// linesOf are the lines of a summary that hold a text.
func linesOf(summary, text string) (lines []string) {
	for l := range strings.SplitSeq(summary, "\n") {
		if strings.Contains(l, text) {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestCallsAboutSeveralThingsKeepTheirLines: bookings of two flights are two deeds.
func TestCallsAboutSeveralThingsKeepTheirLines(t *testing.T) {
	in := join(user("Book both."), asks("a", "book", `{"user":"ida_33","flight":"FL106"}`, "ok"), asks("b", "book", `{"user":"ida_33","flight":"FL107"}`, "ok"), steps("x", 6, 60), user("Go on."))
	res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: 500})
	if got := linesOf(res.Summary, "- book("); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestACallThatGaveAnotherRecordIsInTheLedger, also where the user had named the record, and
// where nothing had shown it before.
func TestACallThatGaveAnotherRecordIsInTheLedger(t *testing.T) {
	order := func(id, status string) string {
		return string(raw(obj{"order_id": id, "status": status, "address": "12 Elm Road, Springfield", "note": strings.Repeat("handle with care ", 14), "lines": []string{"L-1001", "L-1002", "L-1003"}, "carriers": []string{"C-2001", "C-2002"}, "paid_with": "card_5581", "parcel": "P-" + id}))
	}
	in := join(user("Cancel W-771 and W-772, please."), asks("a", "get_order", `{"order_id":"W-771"}`, order("W-771", "pending")),
		asks("b", "cancel_order", `{"order_id":"W-771"}`, order("W-771", "cancelled")), asks("c", "cancel_order", `{"order_id":"W-772"}`, order("W-772", "cancelled")),
		says("Both are cancelled."), user("Now look for shoes."), steps("x", 8, 60), user("Go on."))
	res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: 500})
	for _, want := range []string{"- cancel_order(order W-771) → order W-771: status cancelled", "- cancel_order(order W-772) → order W-772"} {
		if !strings.Contains(res.Summary, want) {
			t.Errorf("no %q in\n%s", want, res.Summary)
		}
	}
	if strings.Contains(res.Summary, "status pending") || strings.Contains(res.Summary, "- get_order") {
		t.Errorf("an old state, or a view, stands in\n%s", res.Summary)
	}
}

// TestACallThatMadeARecordIsInTheLedger, and one that was refused with another list before it.
func TestACallThatMadeARecordIsInTheLedger(t *testing.T) {
	args := func(card string) string {
		return string(raw(obj{"user": "ida_33", "room": "R-2207", "paid_with": []obj{{"card": card, "amount": 80}}}))
	}
	made := string(raw(obj{"booking_id": "HATHAU", "user": "ida_33", "room": "R-2207", "from": "2031-03-02", "to": "2031-03-05", "remark": strings.Repeat("a quiet room, if there is one ", 9), "status": "open"}))
	in := join(user("Book the room."), asks("a", "book_room", args("gift_11"), "Error: gift_11 is used up"), asks("b", "book_room", args("card_55"), made), says("It is booked."), user("Then look for chairs."), steps("x", 6, 60), user("Go on."))
	res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: 600})
	for _, want := range []string{"card gift_11]", "Error: gift_11 is used up", "card card_55]", "→ booking HATHAU"} {
		if !strings.Contains(strings.Join(linesOf(res.Summary, "- book_room("), "\n"), want) {
			t.Errorf("no %q in\n%s", want, res.Summary)
		}
	}
}

// TestARecordOfAnotherOwnerNamesIt, whatever the size.
func TestARecordOfAnotherOwnerNamesIt(t *testing.T) {
	in := join(user("I am ida_33. What have I booked?"))
	for n, owner := range []string{"ida_33", "ida_33", "ola_71", "ola_71"} {
		id := fmt.Sprintf("B%dKQ7Z", n)
		if n == 2 {
			in = join(in, says("Three bookings."), user("Now for my brother, who is ola_71."))
		}
		in = join(in, asks(id, "get_booking", `{"booking_id":"`+id+`"}`, string(raw(obj{
			"booking_id": id, "user_id": owner, "from": "OSL", "to": "CDG", "fare": 100 + n, "paid_with": fmt.Sprint("card_55", n), "remark": strings.Repeat("a quiet seat, if there is one ", 9),
			"passengers": []obj{{"name": fmt.Sprint("Ann ", n), "born": "1981-05-26"}, {"name": fmt.Sprint("Bo ", n), "born": "1985-01-12"}},
		}))), asks("u"+id, "get_user", `{"user_id":"`+owner+`"}`, string(raw(obj{"user_id": owner, "mail": owner + "@example.com", "since": "2019-02-03", "note": strings.Repeat("likes the window ", 16)}))))
	}
	in = join(in, user("Change the newest one."))
	for target := 250; target < 700; target += 50 {
		res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: target})
		for _, l := range append(linesOf(res.Summary, "booking B0KQ7Z"), linesOf(res.Summary, "booking B1KQ7Z")...) {
			if !strings.HasPrefix(l, "# ") && !strings.Contains(l, "ida_33") {
				t.Errorf("%d: %q does not say whose it is in\n%s", target, l, res.Summary)
			}
		}
	}
}

// TestNoValueStandsBesideAnotherOwner draws records that look alike, in several forms.
func TestNoValueStandsBesideAnotherOwner(t *testing.T) {
	r := planter{rand.New(rand.NewPCG(34, 77))}
	seen := 0
	for n := range 150 {
		var owners, records []string
		var list []obj
		for range 2 + r.IntN(6) {
			a, x := r.thing(), r.thing()
			owners = append(owners, a, x)
			record := obj{"holder": a, "tier": "gold", "seat": x, "born": "1981-05-26"}
			switch n % 5 {
			case 1:
				record["card"] = obj{"seat": x, "brand": "visa"}
			case 2:
				record["seats"] = []obj{{"seat": x, "use": "door"}}
			}
			list = append(list, record)
			records = append(records, fmt.Sprintf("holder: %s\ntier: gold\nseat: %s\n", a, x))
		}
		out := string(raw(list))
		switch n % 5 {
		case 3:
			out = strings.Join(records, "\n")
		case 4:
			byName := obj{}
			for i, rec := range list {
				byName[owners[2*i]] = rec
			}
			out = string(raw(byName))
		}
		in := join(user("Who holds what?"), r.exchange("list_accounts", obj{"page": n}, out), says("I have the list."), steps("x", 2, 30), user("Go on."))
		summary := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: 250 + r.IntN(700)}).Summary
		for pair := range slices.Chunk(owners, 2) {
			for other := range slices.Chunk(owners, 2) {
				if other[0] != pair[0] && misattributed(summary, slices.Concat(pair, other)) {
					t.Errorf("%s or %s stands beside another in\n%s", pair[1], other[1], summary)
				}
			}
			if strings.Contains(summary, pair[0]) && strings.Contains(summary, pair[1]) {
				seen++
			}
		}
	}
	if seen < 200 {
		t.Errorf("%d values were seen: the test sees nothing", seen)
	}
}
