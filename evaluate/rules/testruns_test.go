package rules_test

import "testing"

// A run of tests of which some fail has failed, in the words of runners that the score did
// not learn from as well.
func TestRunsOfTestsThatFail(t *testing.T) {
	ran := func(command string) map[string]any { return map[string]any{"command": command} }
	run(t, map[string]example{
		"pytest": {"Bash", ran("python -m pytest tests/"), "============================= test session starts ==============================\nplatform linux -- Python 3.11.7, pytest-8.3.2, pluggy-1.5.0\nrootdir: /srv/app\ncollected 12 items\n\n" +
			"tests/test_a.py .....F......                                             [100%]\n\n=================================== FAILURES ===================================\n_________________________________ test_price __________________________________\n\n" +
			"    def test_price():\n>       assert price(3) == 30\nE       assert 27 == 30\nE        +  where 27 = price(3)\n\ntests/test_a.py:14: AssertionError\n=========================== short test summary info ============================\n" +
			"FAILED tests/test_a.py::test_price - assert 27 == 30\n========================= 1 failed, 11 passed in 0.21s =========================", 0, ""},
		"pytest that passes": {"Bash", ran("pytest -q"), "....                                                                     [100%]\n4 passed in 0.05s", 1, ""},
		"Go":                 {"Bash", ran("go test ./..."), "--- FAIL: TestPrice (0.00s)\n    price_test.go:12: got 27, want 30\nFAIL\nFAIL\tshop/price\t0.003s\nok  \tshop/cart\t0.002s\nFAIL", 0, ""},
		"Go that passes":     {"Bash", ran("go test ./..."), "ok  \tshop/price\t0.003s\nok  \tshop/cart\t0.002s", 1, ""},
		"Jest": {"Bash", ran("npx jest"), " FAIL  src/price.test.js\n  ● price › adds tax\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 30\n    Received: 27\n\n" +
			"      at Object.<anonymous> (src/price.test.js:5:20)\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 3 passed, 4 total\nSnapshots:   0 total\nTime:        0.512 s\nRan all test suites.", 0, ""},
		"Cargo": {"Bash", ran("cargo test"), "running 2 tests\ntest tests::adds ... ok\ntest tests::price ... FAILED\n\nfailures:\n\n---- tests::price stdout ----\nthread 'tests::price' panicked at src/lib.rs:12:9:\nassertion `left == right` failed\n" +
			"  left: 27\n right: 30\n\nfailures:\n    tests::price\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`", 0, ""},
		"Maven": {"Bash", ran("mvn -q test"), "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! - in PriceTest\n[ERROR] PriceTest.adds:12 expected: <30> but was: <27>\n[ERROR] There are test failures.", 0, ""},
		"Django": {"Bash", ran("python manage.py test"), "Creating test database...\nF.\n======================================================================\nFAIL: test_price (shop.tests.PriceTest)\n----------------------------------------------------------------------\n" +
			"Traceback (most recent call last):\n  File \"/srv/app/shop/tests.py\", line 8, in test_price\n    self.assertEqual(price(3), 30)\nAssertionError: 27 != 30\n\n----------------------------------------------------------------------\nRan 2 tests in 0.003s\n\nFAILED (failures=1)\nDestroying test database...", 0, ""},
		"RSpec": {"Bash", ran("bundle exec rspec"), "..F\n\nFailures:\n\n  1) Price adds tax\n     Failure/Error: expect(price(3)).to eq(30)\n\n       expected: 30\n            got: 27\n\nFinished in 0.004 seconds\n3 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/price_spec.rb:4 # Price adds tax", 0, ""},
		".NET":  {"Bash", ran("dotnet test"), "  Failed Price.Adds [12 ms]\n  Error Message:\n   Assert.Equal() Failure\nExpected: 30\nActual:   27\n\nFailed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 20 ms", 0, ""},
	})
}
