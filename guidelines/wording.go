package guidelines

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"memoryd/internal/origin"
	"memoryd/internal/textsafe"
)

// valueLimit bounds a value in a line, in characters.
const valueLimit = 24

// withheld stands for a name that may not be shown.
const withheld = "(name withheld)"

// code puts a name between backticks.
func code(s string) string {
	if shown, ok := origin.Show(origin.Recommendation, origin.Name, s, valueLimit); ok {
		return shown
	}
	return withheld
}

// pathName is a parameter as it stands in a text.
func pathName(path string) string {
	if path == "" {
		return "the input text"
	}
	return code(path)
}

// shownValue is a value that calls share, between quotation marks, or as it stands for a
// number or truth value; it is false where nothing may be shown.
func shownValue(path, value string) (string, bool) {
	if textsafe.SecretName(path) {
		return "", false
	}
	s, ok := origin.Show(origin.Recommendation, origin.Shared, value, valueLimit)
	if _, err := strconv.ParseFloat(value, 64); err == nil || value == "true" || value == "false" {
		return s, ok
	}
	return `"` + s + `"`, ok
}

// number writes a number without needless digits.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// seconds writes a duration with two digits or, from ten seconds on, whole ones.
func seconds(f float64) string {
	if f >= 9.95 {
		return strconv.FormatFloat(f, 'f', 0, 64) + " s"
	}
	if f >= 0.1 {
		return strconv.FormatFloat(f, 'f', 1, 64) + " s"
	}
	return strconv.FormatFloat(f, 'g', 2, 64) + " s"
}

func plural(n float64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

func count(n int, noun string) string { return plural(float64(n), noun) }

func inRuns(runs int) string { return " (" + count(runs, "run") + ")" }

func ofN(k, n int) string { return fmt.Sprintf("%d of %d", k, n) }

// list joins texts as a sentence does.
func list(texts []string, last string) string {
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	case 2:
		return texts[0] + " " + last + " " + texts[1]
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " " + last + " " + texts[len(texts)-1]
}
