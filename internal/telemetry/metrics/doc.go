package metrics

import (
	"fmt"
	"io"
	"strings"
)

// WriteTable writes the table as Markdown, as docs/metrics.md shows it.
func WriteTable(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, m := range Table() {
		labels := "-"
		if len(m.Labels) > 0 {
			labels = "`" + strings.Join(m.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, m.Help)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
