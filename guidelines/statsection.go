package guidelines

import (
	"fmt"
	"strconv"
	"strings"

	"memoryd/internal/stats"
)

// notReported stands where no call knows a figure.
const notReported = "not reported"

// statisticsSection writes the figures that the wire shows, and the counts
// behind them. The success rate is what callers reported; beside it stands how many
// of the judged calls a judge found good.
func statisticsSection(s stats.Statistics, good int) string {
	rate, score, seconds, tokens := notReported, notReported, notReported, notReported
	if s.TotalCalls > 0 {
		rate = fmt.Sprintf("%.2f%%", 100*s.SuccessRate)
	}
	if s.JudgedCalls > 0 {
		score = fmt.Sprintf("%.3f", s.AvgScore)
	}
	if s.TimedCalls > 0 {
		seconds = fmt.Sprintf("%.3fs", s.AvgTimeCost)
	}
	if s.TokenCalls > 0 {
		tokens = fmt.Sprintf("%.1f", s.AvgTokenCost)
	}
	var b strings.Builder
	b.WriteString("## " + statistics + "\n")
	if s.JudgedCalls > 0 {
		fmt.Fprintf(&b, "- **Judged Rate**: %.2f%% (%d of %d judged calls scored 1.0; Success Rate is what callers reported)\n",
			100*float64(good)/float64(s.JudgedCalls), good, s.JudgedCalls)
	}
	fmt.Fprintf(&b, "- **Success Rate**: %s\n- **Average Score**: %s\n- **Average Time Cost**: %s\n- **Average Token Cost**: %s\n", rate,
		score, seconds, tokens)
	fmt.Fprintf(&b, "- **Calls**: %d kept, %d recent; %d judged, %d with time, %d with tokens\n",
		s.TotalCalls, s.RecentCalls, s.JudgedCalls, s.TimedCalls, s.TokenCalls)
	if i := s.SuccessRateCI95; i != nil {
		fmt.Fprintf(&b, "- **95%% Intervals**: success rate %s", percents(i))
		if i := s.AvgScoreCI95; i != nil {
			fmt.Fprintf(&b, ", average score %s to %s", strconv.FormatFloat(i[0], 'f', 3, 64), strconv.FormatFloat(i[1], 'f', 3, 64))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func percents(i *stats.Interval) string {
	return fmt.Sprintf("%.1f%% to %.1f%%", 100*i[0], 100*i[1])
}
