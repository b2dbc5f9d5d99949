package evaluate

import (
	"errors"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/internal/loosejson"
)

// Ways in which a score cannot be read.
var (
	errNoScore    = errors.New("no score")
	errOddScore   = errors.New("the score is not between 0 and 1")
	errTwoScores  = errors.New("two different scores")
	errNotANumber = errors.New("the score is not a number")
)

// levelOf reads a score as one of the three levels: a number from 0 to 1, also as a text, or the
// word for a level. A score between two levels goes to the nearer one, and down where both are
// equally near. exact is true of a number that is a level.
func levelOf(d *loosejson.Doc, i int32) (level float64, exact bool, err error) {
	n := &d.Nodes[i]
	if n.Cut || n.Kind == loosejson.Object || n.Kind == loosejson.Array {
		return 0, false, errNoScore
	}
	s := strings.ToLower(strings.TrimSpace(d.Str(i)))
	if f, ok := words[s]; ok {
		return f, false, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, false, errNotANumber
	case !(f >= 0 && f <= 1):
		return 0, false, errOddScore
	case f <= 0.25:
		level = memoryd.ScoreFailure
	case f <= 0.75:
		level = memoryd.ScorePartial
	default:
		level = memoryd.ScoreSuccess
	}
	return level, f == level && n.Kind == loosejson.Number, nil
}

// words are those that models write for the levels.
var words = map[string]float64{
	"success": memoryd.ScoreSuccess, "successful": memoryd.ScoreSuccess, "partial": memoryd.ScorePartial,
	"failure": memoryd.ScoreFailure, "failed": memoryd.ScoreFailure, "fail": memoryd.ScoreFailure,
}
