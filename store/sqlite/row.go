package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"slices"

	"memoryd"

	"github.com/klauspost/compress/s2"
)

// The columns of a call. What statistics need stands first and the bodies last,
// so that reading samples never touches the pages that a long body spills to.
const (
	sampleColumns     = `id, tool, seq, success, state, score, time_cost, token_cost`
	evaluationColumns = `judged_by, rule, judge_version, judged_at, attempts, not_before, last_error, summary, evaluation, extra`
	briefColumns      = sampleColumns + `, time, key, hash, create_time, ` + evaluationColumns + `, metadata, NULL, NULL`
	callColumns       = sampleColumns + `, time, key, hash, create_time, ` + evaluationColumns + `, metadata, input, output`

	insertCall = `INSERT OR REPLACE INTO calls (` + callColumns + `)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
)

// rowID, rowTool and rowSeq are the places of the columns that the writer fills.
const (
	rowID = iota
	rowTool
	rowSeq
)

// stateCode is how an evaluation state stands in its column.
func stateCode(s memoryd.EvaluationState) int64 {
	switch s {
	case memoryd.Judged:
		return 1
	case memoryd.Failed:
		return 2
	}
	return 0
}

func stateOf(v driver.Value) memoryd.EvaluationState {
	switch integer(v) {
	case 1:
		return memoryd.Judged
	case 2:
		return memoryd.Failed
	}
	return memoryd.Pending
}

// callRow is what insertCall binds, and the room in which its texts are packed.
type callRow struct {
	values [25]driver.NamedValue
	room   packing
}

// clear makes a row ready to be used again.
func (r *callRow) clear() {
	clear(r.values[:])
	r.room = r.room[:0]
}

// fill makes it the row of c; the writer fills the first three places.
func (r *callRow) fill(c *memoryd.Call) {
	e := &c.Evaluation
	for i, v := range [len(r.values)]driver.Value{
		nil, nil, nil, flag(c.Success), stateCode(e.State), e.Score, c.TimeCost, c.TokenCost,
		micros(c.Time), c.Key[:], text(c.Hash), text(c.CreateTime),
		text(e.JudgedBy), text(e.Rule), text(e.JudgeVersion), micros(e.JudgedAt),
		int64(e.Attempts), micros(e.NotBefore), text(e.LastError), text(e.Summary), text(e.Evaluation), extraValue(e),
		raw(c.Metadata), r.room.text(raw(c.Input)), r.room.text(text(c.Output)),
	} {
		r.values[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
}

// An input or output of packedFrom bytes or more is stored packed, where that saves an eighth of it
// at least. None is longer than packedUpTo: a pack that says so is damaged.
const (
	packedFrom = 256
	packedUpTo = 256 << 20
)

// packing is room for small packs, which are valid until it is used again.
type packing []byte

const maxPacking = 64 << 10

// text is a text as it stands in its column: as a blob in the format of S2, or as it is.
// Layouts before version 6 have texts alone.
func (p *packing) text(plain driver.Value) driver.Value {
	s := str(plain)
	if len(s) < packedFrom || len(s) > packedUpTo {
		return plain
	}
	var b []byte
	if at, most := len(*p), s2.MaxEncodedLen(len(s)); at+most+len(s) <= maxPacking {
		*p = append(slices.Grow(*p, most+len(s))[:at+most], s...)
		b = s2.Encode((*p)[at:at:at+most], (*p)[at+most:])
		*p = (*p)[:at+len(b)]
	} else {
		b = s2.Encode(nil, []byte(s))
	}
	if len(b) > len(s)-len(s)/8 {
		return plain
	}
	return b
}

// unpacked is the text that was packed.
func unpacked(v driver.Value) (driver.Value, error) {
	b, isPacked := v.([]byte)
	if !isPacked {
		return v, nil
	}
	// S2 makes room for what the first bytes announce, up to 4 GiB, before it reads on.
	if n, err := s2.DecodedLen(b); err != nil || n > packedUpTo {
		return nil, s2.ErrCorrupt
	}
	plain, err := s2.Decode(nil, b)
	return string(plain), err
}

// bytesColumns are the sizes of what a call takes, for textBytes: of a packed text its beginning,
// which says how long it is.
const bytesColumns = `octet_length(metadata), octet_length(summary), octet_length(evaluation),
	CASE typeof(input) WHEN 'blob' THEN substr(input, 1, 5) ELSE octet_length(input) END,
	CASE typeof(output) WHEN 'blob' THEN substr(output, 1, 5) ELSE octet_length(output) END`

// textBytes adds up bytesColumns.
func textBytes(row []driver.Value) (sum int64) {
	for _, v := range row {
		n, _ := s2.DecodedLen(blob(v))
		sum += integer(v) + int64(max(0, n))
	}
	return sum
}

// scanSample reads the leading columns of a row.
func scanSample(v []driver.Value) memoryd.Sample {
	return memoryd.Sample{
		Seq: integer(v[rowSeq]), Success: integer(v[3]) != 0, State: stateOf(v[4]), Score: float(v[5]),
		TimeCost: float(v[6]), TokenCost: integer(v[7]),
	}
}

// scanCall reads a row of callColumns; the names are not in it.
func scanCall(v []driver.Value) (memoryd.Call, error) {
	s := scanSample(v)
	input, wrong := unpacked(v[23])
	output, err := unpacked(v[24])
	c := memoryd.Call{
		Seq: s.Seq, Success: s.Success, TimeCost: s.TimeCost, TokenCost: s.TokenCost,
		Time: timeOf(v[8]), Hash: str(v[10]), CreateTime: str(v[11]),
		Metadata: json.RawMessage(rawOf(v[22])), Input: json.RawMessage(rawOf(input)), Output: str(output),
	}
	copy(c.Key[:], blob(v[9]))
	c.Evaluation = scanEvaluation(s.State, s.Score, v[12:22])
	return c, errors.Join(wrong, err)
}

// scanEvaluation reads evaluationColumns.
func scanEvaluation(state memoryd.EvaluationState, score float64, v []driver.Value) memoryd.Evaluation {
	e := memoryd.Evaluation{
		State: state, Score: score, JudgedBy: str(v[0]), Rule: str(v[1]), JudgeVersion: str(v[2]),
		JudgedAt: timeOf(v[3]), Attempts: int(integer(v[4])), NotBefore: timeOf(v[5]), LastError: str(v[6]),
		Summary: str(v[7]), Evaluation: str(v[8]),
	}
	scanExtra(v[9], &e)
	return e
}

// evaluationValues gives state, score and evaluationColumns of e.
func evaluationValues(e *memoryd.Evaluation) []driver.Value {
	return []driver.Value{
		stateCode(e.State), e.Score, text(e.JudgedBy), text(e.Rule), text(e.JudgeVersion), micros(e.JudgedAt),
		int64(e.Attempts), micros(e.NotBefore), text(e.LastError), text(e.Summary), text(e.Evaluation),
		extraValue(e),
	}
}

// extra is what few evaluations have, as JSON in one column that is NULL for the
// others.
type extra struct {
	FailedChecks string `json:"failed_checks,omitempty"`
	memoryd.Cost
	Overruled *memoryd.Overruled `json:"overruled,omitempty"`
}

func extraValue(e *memoryd.Evaluation) driver.Value {
	x := extra{e.FailedChecks, e.Cost, e.Overruled}
	if x == (extra{}) {
		return nil
	}
	b, err := json.Marshal(x)
	if err != nil {
		return nil // cannot be: the store refuses numbers that are none
	}
	return string(b)
}

func scanExtra(v driver.Value, e *memoryd.Evaluation) {
	var x extra
	if s := str(v); s == "" || json.Unmarshal([]byte(s), &x) != nil {
		return
	}
	e.FailedChecks, e.Cost, e.Overruled = x.FailedChecks, x.Cost, x.Overruled
}
