package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// valueLimit bounds a value in a line, in characters.
const valueLimit = 24

// line says what to do: the line of the condition with the names, the bound and the values in it.
// narrow is what messages say of the bound or of the form, shown are the values that may be.
func (h *hypothesis) line(narrow string, shown []string) string {
	line, p := conditions[h.what].line, spoken(h.p)
	switch list, member := inList(h.p); {
	case list != "" && h.paired(): // both are in the list, which the other tells
		p = "`" + member + "`"
	case h.what == is, h.what == begins:
		p = strings.Replace(p, "each of", "any of", 1)
	}
	switch {
	case h.property():
		line = h.ofProperty()
	case line == "":
		line = h.varied(narrow, shown)
	}
	at := map[bool]string{false: "at most ", true: "at least "}[h.what == below]
	set, field, state := "", "", ""
	if len(h.set) > 0 {
		set = h.set[0]
		field, state, _ = strings.Cut(set, "=")
	}
	return strings.NewReplacer(
		"{p}", p, "{a}", article(h.p), "{list}", strings.TrimPrefix(p, "any of "), "{q}", spoken(h.q),
		"{amount}", counted(h.p), "{bound}", plain(h.bound),
		"{most}", at+plain(h.bound), "{unit}", plural("", h.bound), "{set}", quoted(h.set), "{value}", set,
		"{shown}", quoted(shown), "{or}", strings.Join(shown, " or "), "{any}", anyOf(shown), "{there}", anyOf(h.valuesThere()), "{tool}", h.tool,
		"{field}", field, "{state}", state, "{marks}", marksOf(set), "{narrow}", narrow,
	).Replace(line)
}

// article is the one that stands before a name.
func article(name string) string {
	if name != "" && strings.ContainsRune("aeioAEIO", rune(name[0])) {
		return "an"
	}
	return "a"
}

// varied is the line of a condition that can be told in several ways; "" where nothing can be said.
func (h *hypothesis) varied(narrow string, shown []string) string {
	switch h.what {
	case is, notIn:
		return h.choice(narrow, shown)
	case begins:
		if strings.Trim(h.set[0], "`") == "" {
			return "Give no {p} that begins with backticks"
		}
		if strings.HasSuffix(h.p, "[]") {
			return "Give no element of {list} that begins with {set}{narrow}"
		}
		return "Give no {p} that begins with {set}{narrow}"
	case unseen:
		switch {
		case h.tool != "":
			return "Copy {p} exactly from an answer of `{tool}`"
		case len(h.set) > 0:
			return "Copy {p} exactly from an earlier answer, mostly of `{value}`"
		}
		return "Copy {p} exactly from an earlier answer"
	case nowhere:
		if len(h.set) > 0 {
			return "Give {p} a value that an answer of `{value}` or a good call had before"
		}
		return "Give {p} a value that an answer or a good call had before"
	case outdated:
		if h.tool != "" {
			return "Copy {p} from the newest answer of `{tool}`"
		}
		return "Copy {p} from the newest answer"
	case lastNotIn:
		switch {
		case slices.Contains(h.set, unused):
			return "Give no {p} that the run last used in {any}"
		case len(h.valuesThere()) > 0:
			return "Give {a} {p} that the run last used in {any}, or {there}{narrow}"
		}
		return "Give {a} {p} that the run last used in {any}{narrow}"
	default: // see handbook
		return ""
	}
}

// choice says which values to give, or not to give; "" where nothing can be said of what worked.
func (h *hypothesis) choice(narrow string, shown []string) string {
	switch {
	case h.what == is && h.set[0] == "":
		return "Do not leave {p} empty"
	case h.what == notIn && len(shown) == 0 && narrow != "": // none worked often enough to be named
		return "Give {p} as a value that worked{narrow}"
	case len(shown) == 0:
		return ""
	case h.what == is:
		return "Do not give {p} as {set}; {shown} worked"
	case len(shown) < len(h.set):
		return "Give {p} as a value that worked, such as {shown}{narrow}"
	}
	if len(shown) == 1 {
		return "Give {p} as {shown}{narrow}"
	}
	return "Give {p} as one of {shown}{narrow}"
}

// propertyLines say what to do about the properties of values.
var propertyLines = map[string]string{
	ofTurn: "Call it {most} times in a run{narrow}", ofPause: "Wait {most} seconds between two calls{narrow}",
	ofType:   "Give {p} as {or}{narrow}",
	ofLength: "Keep {p} {most} character{unit} long{narrow}", ofItems: "Give {most} element{unit} in {p}{narrow}",
	ofTwice: "Give no element of {p} twice",
}

func (h *hypothesis) ofProperty() string {
	if h.what == offStep {
		return "Give {amount} in steps of {bound}"
	}
	_, property := base(h.p)
	return propertyLines[property]
}

// spoken are parameters as lines name them: members of one list together.
func spoken(params ...string) (line string) {
	for i, p := range params {
		p, _ = base(p)
		list, member := inList(p)
		if list == "" {
			member = p
		} else {
			list = " in each of `" + strings.ReplaceAll(list, "[]", "") + "`"
		}
		if i > 0 {
			line = strings.TrimSuffix(line, list) + " and "
		}
		if inner, nested := strings.CutSuffix(member, "[][]"); nested {
			line, member = line+"each element of the lists in ", strings.ReplaceAll(inner, "[]", "")
		} else if list, element := strings.CutSuffix(member, "[]"); element {
			line, member = line+"each of ", list
		}
		line += "`" + member + "`" + list
	}
	return line
}

// counted is a parameter, or the size of one, as lines name it.
func counted(p string) string {
	switch _, property := base(p); property {
	case ofItems:
		return "the number of elements in " + spoken(p)
	case ofLength:
		return "the length of " + spoken(p)
	}
	return spoken(p)
}

// markNames are what lines call classes; others are named by the mark.
var markNames = map[string]string{"A": "capital letters", "0": "digits", " ": "blanks", "é": "letters beyond a to z", "`": "backticks"}

// marksOf are the characters of a class, as lines name them.
func marksOf(class string) string { return cmp.Or(markNames[class], "`"+class+"`") }

func quoted(set []string) string {
	out := make([]string, len(set))
	for i, s := range set {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}

// anyOf joins with commas and "or".
func anyOf(list []string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " or " + list[n]
	}
	return strings.Join(list, "")
}

func plural(noun string, n float64) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
