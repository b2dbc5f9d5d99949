package tokens

import "strings"

// ForModel returns the estimator for a model's name. It ignores a provider prefix
// ("openai/gpt-4o"). Anthropic's tokenizers yield more tokens than o200k_base for the same
// English text, about 4/3.3 by LangChain's rule of thumb, so those models get that factor.
// Unknown names get 1.1, to be safe.
func ForModel(name string) Estimator {
	base := strings.ToLower(name)
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		base = base[i+1:]
	}
	for _, m := range families {
		if strings.HasPrefix(base, m.prefix) {
			return Estimator{Encoding: m.encoding, Factor: m.factor}
		}
	}
	return Estimator{Encoding: O200k, Factor: 1.1}
}

// Known reports whether ForModel has the exact table of a model, so that there is nothing to
// learn.
func Known(name string) bool { return ForModel(name).Factor == 1 }

// families is read from the top; longer prefixes stand before shorter ones.
//
//nolint:gochecknoglobals // a constant table
var families = []struct {
	prefix   string
	encoding Encoding
	factor   float64
}{
	{"gpt-4o", O200k, 1},
	{"gpt-4.1", O200k, 1},
	{"gpt-4.5", O200k, 1},
	{"gpt-4", CL100k, 1},
	{"gpt-3.5", CL100k, 1},
	{"text-embedding", CL100k, 1},
	{"gpt-", O200k, 1},
	{"chatgpt", O200k, 1},
	{"o1", O200k, 1},
	{"o3", O200k, 1},
	{"o4", O200k, 1},
	{"claude", O200k, 1.2},
	{"", O200k, 1.1},
}
