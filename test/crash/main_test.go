// Package crash kills the real program, fills its disk and damages its files,
// and looks whether it keeps its promises.
package crash

import (
	"os"
	"strconv"
	"testing"

	"memoryd/test/crash/daemon"
)

// binary is the program under test, built once.
var binary daemon.Binary

func TestMain(m *testing.M) { os.Exit(daemon.Main(m, &binary)) }

// keeping is a configuration whose histories hold n calls.
func keeping(t *testing.T, n int) string {
	return daemon.ConfigFile(t, "op: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: "+strconv.Itoa(n)+"}}}\n"+
		"log: {level: error}\n")
}
