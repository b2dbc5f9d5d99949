package evaluate

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/internal/loosejson"
)

// Ways in which a score cannot be read.
var (
	errNoScore    = errors.New("no score")
	errOddScore   = errors.New("the score is on no known scale")
	errTwoScores  = errors.New("two different scores")
	errNotANumber = errors.New("the score is not a number")
)

// levelOf reads a score as one of the three levels. exact is false when it had
// to be brought from another scale, from a word or from between two levels.
//
// Known scales: 0 to 1; 2 to 10 is taken as tenths, 11 to 100 as hundredths;
// "8/10" and "80%" say their scale themselves. A score between two levels goes
// to the nearer one, and down where both are equally near. What stands between
// 1 and 2 could be either scale and is refused, as are negative scores.
func levelOf(d *loosejson.Doc, i int32) (level float64, exact bool, err error) {
	switch n := &d.Nodes[i]; {
	case n.Cut:
		return 0, false, errNoScore
	case n.Kind == loosejson.Number:
		return levelOfNumber(n.Val)
	case n.Kind == loosejson.Object, n.Kind == loosejson.Array:
		return 0, false, errNoScore
	}
	return levelOfText(d.Str(i))
}

func levelOfNumber(lit string) (float64, bool, error) {
	f, err := strconv.ParseFloat(lit, 64)
	switch {
	case err != nil:
		return 0, false, errNotANumber
	case f == memoryd.ScoreFailure, f == memoryd.ScorePartial, f == memoryd.ScoreSuccess:
		return math.Abs(f), true, nil // -0 is 0
	case f < 0:
	case f <= 1:
		return nearest(f), false, nil
	case f < 2:
	case f <= 10:
		return nearest(f / 10), false, nil
	case f <= 100:
		return nearest(f / 100), false, nil
	}
	return 0, false, errOddScore // also of what is infinite, or no number
}

// nearest is the level nearest to f in 0 to 1; ties go down.
func nearest(f float64) float64 {
	switch {
	case f <= 0.25:
		return memoryd.ScoreFailure
	case f <= 0.75:
		return memoryd.ScorePartial
	}
	return memoryd.ScoreSuccess
}

// remark is what may stand behind a score. A hyphen needs a blank before it:
// "0-1" is a range.
const remark = `(?:\s*[(:;].*|\s+[-–—].*|[,.](?:\s.*)?)?$`

var (
	fraction  = regexp.MustCompile(`^([0-9]*[.,]?[0-9]+)\s*(?:/|out of)\s*([0-9]+(?:\.[0-9]+)?)` + remark)
	percent   = regexp.MustCompile(`^([0-9]*[.,]?[0-9]+)\s*(?:%|percent)` + remark)
	annotated = regexp.MustCompile(`^([+-]?[0-9]*[.,]?[0-9]+)` + remark)
)

// levelOfText reads a score that came as text: a number, "8/10", "80%", a word,
// each perhaps with a remark behind it.
func levelOfText(s string) (float64, bool, error) {
	s = strings.ToLower(strings.Trim(strings.TrimSpace(s), "*_`\"' \t\n"))
	if m := fraction.FindStringSubmatch(s); m != nil {
		a, b := decimal(m[1]), decimal(m[2])
		if b <= 0 || a > b {
			return 0, false, errOddScore
		}
		return nearest(a / b), false, nil
	}
	if m := percent.FindStringSubmatch(s); m != nil {
		if f := decimal(m[1]); f <= 100 {
			return nearest(f / 100), false, nil
		}
		return 0, false, errOddScore
	}
	if m := annotated.FindStringSubmatch(s); m != nil {
		f, exact, err := levelOfNumber(strings.Replace(m[1], ",", ".", 1))
		return f, exact && m[1] == s, err
	}
	if f, ok := levelOfWord(s); ok {
		return f, false, nil
	}
	return 0, false, errNotANumber
}

// decimal reads digits with a point or a comma; the callers' patterns let
// nothing else through.
func decimal(s string) float64 {
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil {
		return math.Inf(1)
	}
	return f
}

// levelOfWord reads the words that models use for the levels.
func levelOfWord(s string) (float64, bool) {
	switch strings.Trim(strings.NewReplacer("_", " ", "-", " ").Replace(s), " .!:;,") {
	case "success", "successful", "succeeded", "full success", "complete success", "pass", "passed", "one":
		return memoryd.ScoreSuccess, true
	case "partial", "partially", "partial success", "partially successful", "mixed", "half", "zero point five":
		return memoryd.ScorePartial, true
	case "failure", "failed", "fail", "unsuccessful", "complete failure", "zero":
		return memoryd.ScoreFailure, true
	}
	return 0, false
}
