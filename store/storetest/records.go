package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
)

func recordKey(workspace, tool, id string) store.RecordKey {
	return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace, Tool: tool}, Kind: "note", ID: id}
}

func (e *env) put(k store.RecordKey, revision int64, data string) (int64, error) {
	return e.s.PutRecord(e.Context(), store.Record{RecordKey: k, Revision: revision, Data: []byte(data)})
}

// wantRecord checks a record's revision and data.
func (e *env) wantRecord(k store.RecordKey, revision int64, data string) {
	e.Helper()
	r, err := e.s.Record(e.Context(), k)
	if err != nil || r.RecordKey != k || r.Revision != revision || string(r.Data) != data || !r.Expires.IsZero() {
		e.Errorf("got %+v, %v, want revision %d of %q", r, err, revision, data)
	}
}

// wantSize checks a size: so many, of at least so many bytes and at most another number.
func (e *env) wantSize(want store.Size, most int64) func(store.Size, error) {
	e.Helper()
	return func(got store.Size, err error) {
		e.Helper()
		if err != nil || got.Count != want.Count || got.Bytes < want.Bytes || got.Bytes > most {
			e.Errorf("the size is %+v, %v, want %+v and at most %d bytes", got, err, want, most)
		}
	}
}

func (e *env) recordIDs(from store.RecordKey, limit int) []string {
	e.Helper()
	rs, err := e.s.ListRecords(e.Context(), from, limit)
	if err != nil {
		e.Fatal(err)
	}
	ids := []string{}
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return ids
}

func recordCases() []testCase {
	return []testCase{
		{name: "a record is replaced by compare-and-set", run: replaceRecords},
		{name: "one writer of many wins", run: raceForRecord},
		{name: "records are listed in byte order", run: listRecords},
		{name: "a list holds no more than a record may, but one", run: func(e *env) {
			if testing.Short() {
				e.Skip("moves megabytes")
			}
			big := strings.Repeat("x", store.MaxRecordBytes-2)
			for _, id := range []string{"a", "b", "c"} {
				if _, err := e.put(recordKey("w", "", id), 0, big[:len(big)/2]); err != nil {
					e.Fatal(err)
				}
			}
			if _, err := e.put(recordKey("w", "", "d"), 0, big+"xx"); err != nil {
				e.Fatal(err)
			}
			if got := e.recordIDs(recordKey("w", "", ""), 9); !slices.Equal(got, []string{"a", "b"}) {
				e.Errorf("got %v", got)
			}
			if got := e.recordIDs(recordKey("w", "", "c"), 9); !slices.Equal(got, []string{"d"}) {
				e.Errorf("got %v", got)
			}
			_, err := e.put(recordKey("w", "", "e"), 0, big+"xxx")
			e.wantKind(err, memoryd.TooLarge)
		}},
		{name: "their size is told without reading them", run: func(e *env) {
			for i, data := range []string{"one", "four", ""} {
				if _, err := e.put(recordKey("w", "", fmt.Sprint(i)), 0, data); err != nil {
					e.Fatal(err)
				}
			}
			if _, err := e.put(recordKey("v", "", "a"), 0, "of another workspace"); err != nil {
				e.Fatal(err)
			}
			e.wantSize(store.Size{Count: 3, Bytes: 7}, 7)(e.s.RecordsSize(e.Context(), recordKey("w", "", "")))
			if err := e.s.DeleteRecord(e.Context(), recordKey("w", "", "1")); err != nil {
				e.Fatal(err)
			}
			e.wantSize(store.Size{Count: 2, Bytes: 3}, 3)(e.s.RecordsSize(e.Context(), recordKey("w", "", "2")))
			e.wantSize(store.Size{}, 0)(e.s.RecordsSize(e.Context(), recordKey("w", "nowhere", "")))
		}},
		{name: "records leave with their tool and workspace", run: deleteWithRecords},
		{name: "expired records are removed on request", run: expireRecords},
		{name: "wrong records are refused", run: func(e *env) {
			for _, k := range []store.RecordKey{
				{},
				recordKey("w", "", ""), recordKey("", "t", "a"),
				{ToolRef: ref(""), Kind: "No", ID: "a"},
				{ToolRef: ref(""), ID: "a"},
				recordKey("w", "", strings.Repeat("n", memoryd.MaxNameBytes+1)),
			} {
				_, err := e.put(k, 0, "x")
				e.wantKind(err, memoryd.Invalid)
				e.wantKind(e.s.DeleteRecord(e.Context(), k), memoryd.Invalid)
			}
			_, err := e.put(recordKey("w", "nowhere", "a"), 0, "x")
			e.wantKind(err, memoryd.NotFound)
			err = e.s.PutRecords(e.Context(), []store.Record{{RecordKey: recordKey("w", "", "a")}, {RecordKey: recordKey("v", "", "a")}})
			e.wantKind(err, memoryd.Invalid)
			_, err = e.s.Record(e.Context(), recordKey("w", "", "a"))
			e.wantKind(err, memoryd.NotFound)
		}},
		{name: "records survive", durable: true, run: func(e *env) {
			e.append(9, makeCall("t", 1))
			all := bytes.Repeat([]byte{0, 1, 0xff}, 9000)
			r := store.Record{RecordKey: recordKey("w", "t", "b\x00"), Data: all, Expires: at(3)}
			if err := e.s.PutRecords(e.Context(), []store.Record{r, r, {RecordKey: recordKey("w", "", "a")}}); err != nil {
				e.Fatal(err)
			}
			e.reopen()
			got, err := e.s.Record(e.Context(), r.RecordKey)
			if err != nil || !bytes.Equal(got.Data, all) || got.Revision != 2 || !got.Expires.Equal(at(3).Truncate(time.Microsecond)) {
				e.Errorf("got revision %d, %d bytes, expiry %v, %v", got.Revision, len(got.Data), got.Expires, err)
			}
			e.wantRecord(recordKey("w", "", "a"), 1, "")
		}},
	}
}

func replaceRecords(e *env) {
	e.append(9, makeCall("t", 1))
	for _, k := range []store.RecordKey{recordKey("", "", "a"), recordKey("w", "", "a"), recordKey("w", "t", "a"), recordKey("x", "", "a")} {
		for i, step := range []struct {
			revision, want int64
			kind           memoryd.Kind
		}{
			{revision: 1, kind: memoryd.Conflict},
			{revision: 0, want: 1},
			{revision: 0, kind: memoryd.Conflict},
			{revision: 1, want: 2},
			{revision: store.AnyRevision, want: 3},
			{revision: 2, kind: memoryd.Conflict},
			{revision: 3, want: 4},
		} {
			got, err := e.put(k, step.revision, fmt.Sprint(k, i))
			if step.kind != "" {
				e.wantKind(err, step.kind)
			} else if err != nil || got != step.want {
				e.Errorf("step %d: got %d, %v", i, got, err)
			}
		}
		e.wantRecord(k, 4, fmt.Sprint(k, 6))
		if err := e.s.DeleteRecord(e.Context(), k); err != nil {
			e.Error(err)
		}
		if err := e.s.DeleteRecord(e.Context(), k); err != nil {
			e.Error(err)
		}
		_, err := e.s.Record(e.Context(), k)
		e.wantKind(err, memoryd.NotFound)
	}
}

func raceForRecord(e *env) {
	var wg sync.WaitGroup
	var won atomic.Int64
	for i := range 8 {
		wg.Go(func() {
			if _, err := e.put(recordKey("w", "", "a"), 0, fmt.Sprint(i)); err == nil {
				won.Add(1)
			} else if !memoryd.IsKind(err, memoryd.Conflict) {
				e.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		e.Errorf("%d writers won", won.Load())
	}
}

func listRecords(e *env) {
	e.append(9, makeCall("t", 1))
	names := trickyNames()
	for i, name := range names {
		k := recordKey("w", "", name)
		if i%2 == 1 {
			k.Tool = "t"
		}
		if _, err := e.put(k, 0, name); err != nil {
			e.Fatal(err)
		}
		k.Kind = "other"
		if _, err := e.put(k, 0, name); err != nil {
			e.Fatal(err)
		}
	}
	var want []string
	for i := 0; i < len(names); i += 2 {
		want = append(want, names[i])
	}
	slices.Sort(want)
	var got []string
	for after := ""; ; after = got[len(got)-1] {
		page := e.recordIDs(recordKey("w", "", after), 3)
		if got = append(got, page...); len(page) < 3 {
			break
		}
	}
	if !slices.Equal(got, want) {
		e.Errorf("got %q\nwant %q", got, want)
	}
	if got := e.recordIDs(recordKey("w", "", ""), 0); len(got) != 0 {
		e.Errorf("limit 0 gave %q", got)
	}
}

func deleteWithRecords(e *env) {
	e.append(9, makeCall("t", 1), makeCall("u", 1))
	for _, k := range []store.RecordKey{recordKey("w", "t", "a"), recordKey("w", "u", "a"), recordKey("w", "", "a"), recordKey("", "", "a")} {
		if _, err := e.put(k, 0, "x"); err != nil {
			e.Fatal(err)
		}
	}
	if err := e.s.DeleteTool(e.Context(), ref("t")); err != nil {
		e.Fatal(err)
	}
	_, err := e.s.Record(e.Context(), recordKey("w", "t", "a"))
	e.wantKind(err, memoryd.NotFound)
	e.wantRecord(recordKey("w", "u", "a"), 1, "x")
	e.wantRecord(recordKey("w", "", "a"), 1, "x")
	if n, err := e.s.DeleteWorkspace(e.Context(), "w"); n != 1 || err != nil {
		e.Errorf("got %d, %v", n, err)
	}
	for _, k := range []store.RecordKey{recordKey("w", "u", "a"), recordKey("w", "", "a")} {
		_, err := e.s.Record(e.Context(), k)
		e.wantKind(err, memoryd.NotFound)
	}
	if err := e.s.DeleteTool(e.Context(), memoryd.ToolRef{}); err != nil {
		e.Error(err)
	}
	if _, err := e.s.DeleteWorkspace(e.Context(), ""); err != nil {
		e.Error(err)
	}
	e.wantRecord(recordKey("", "", "a"), 1, "x")
}

func expireRecords(e *env) {
	for i, minute := range []int{5, 1, 3, 0} {
		r := store.Record{RecordKey: recordKey("w", "", fmt.Sprint(i)), Expires: at(minute)}
		if minute == 0 {
			r.Expires = time.Time{}
		}
		if _, err := e.s.PutRecord(e.Context(), r); err != nil {
			e.Fatal(err)
		}
	}
	for i, step := range []struct {
		minute, limit, want int
		left                []string
	}{
		{0, 9, 0, []string{"0", "1", "2", "3"}}, {3, 1, 1, nil}, {3, 9, 1, []string{"0", "3"}}, {9, 9, 1, []string{"3"}},
	} {
		n, err := e.s.ExpireRecords(e.Context(), at(step.minute), step.limit)
		if err != nil || n != step.want {
			e.Errorf("step %d: got %d, %v, want %d", i, n, err, step.want)
		}
		if got := e.recordIDs(recordKey("w", "", ""), 9); step.left != nil && !slices.Equal(got, step.left) {
			e.Errorf("step %d: left %v, want %v", i, got, step.left)
		}
	}
}
