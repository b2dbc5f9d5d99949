package rules_test

import "testing"

// Codes of SQL, of the operating system and of line protocols, where they stand for the outcome.
func TestCodesOfRegistries(t *testing.T) {
	run(t, map[string]example{
		"sqlstate of a failure":       {"sql_api", nil, `{"rows": null, "sqlstate": "42P01", "position": 15}`, 0, ""},
		"sqlstate of a success":       {"sql_api", nil, `{"rows": [], "sqlstate": "00000", "affected": 1}`, 1, ""},
		"sqlstate in brackets":        {"odbc", nil, "[22012] [Microsoft][ODBC Driver 18]Divide by zero encountered. (8134)", 0, ""},
		"sqlstate behind a message":   {"pgx", nil, "SQL0204N  \"A.B\" is an undefined name.  SQLSTATE=42704", 0, ""},
		"sqlstate that is no failure": {"sql_api", nil, "3 rows changed, SQLSTATE: 00000", 1, ""},
		"number in brackets":          {"roll_dice", nil, "[12345] [points]", 1, ""},
		"errno alone":                 {"fs_stat", nil, "EISDIR", 0, ""},
		"word like one":               {"get_region", nil, "EUROPE", 1, ""},
		"exit":                        {"proc", nil, `{"stdout": "", "stderr": "", "exit": 1}`, 0, "exit-code"},
		"exit of zero":                {"proc", nil, `{"stdout": "0 errors", "stderr": "", "exit": 0}`, 1, ""},
		"signal":                      {"proc", nil, `{"pid": 4, "signal": "SIGKILL", "code": null}`, 0, ""},
		"signal of a radio":           {"radio", nil, `{"ssid": "x", "signal": "strong"}`, 1, ""},
		"numbered reply that advises": {"ftp_raw", nil, "425 Use PORT or PASV first.", 0, ""},
		"tuple of number and name":    {"declare_queue", nil, `(406, "PRECONDITION_FAILED - inequivalent arg 'durable'")`, 0, ""},
		"a code that is no status":    {"get_zone", nil, `{"code": 5, "message": "Zone five", "price": 3}`, 1, ""},
		"grpc status":                 {"call_service", nil, `{"grpc-status": 9, "trailers": {}}`, 0, "body-status"},
		"grpc status of a success":    {"call_service", nil, `{"grpc-status": 0, "trailers": {}}`, 1, ""},
		"level of syslog":             {"nginx.test", nil, "nginx: [emerg] unknown directive \"serverr\" in /etc/nginx.conf:12", 0, ""},
		"notice":                      {"pgx.session", nil, "NOTICE 00000: table \"t_old\" does not exist, skipping", 1, ""},
		"ERR of a line protocol":      {"kv", nil, "ERR value is not an integer or out of range", 0, ""},
	})
}

// What a call should have given and did not, and what it left.
func TestPromisesThatWereNotKept(t *testing.T) {
	run(t, map[string]example{
		"nothing but a condition":    {"predict", nil, `{"predictions": null, "deployment_status": "NOT_READY"}`, 0, "score"},
		"a condition beside data":    {"predict", nil, `{"predictions": [1], "deployment_status": "NOT_READY"}`, 1, ""},
		"the name that was given":    {"flag", map[string]any{"key": "fail-open"}, `{"key": "fail-open", "enabled": false, "rules": []}`, 1, ""},
		"some left":                  {"batch_write", nil, `{"UnprocessedItems": {"t": [{"id": 9}]}, "Used": 24}`, 0.5, ""},
		"none left":                  {"batch_write", nil, `{"UnprocessedItems": {}, "Used": 24}`, 1, ""},
		"some of a document":         {"delete_objects", nil, "<R><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>AccessDenied</Code></Error></R>", 0.5, ""},
		"records of faults":          {"soap_call", nil, `<Body><GetFaultsResponse><Fault id="1">Sensor failed</Fault></GetFaultsResponse></Body>`, 1, ""},
		"what comes first":           {"merge_leads", map[string]any{"drop": "L-2"}, "L-2 has open tickets. Close them first.", 0, ""},
		"the request and a remark":   {"mqtt.subscribe", map[string]any{"topic": "plant/x"}, `{"topic": "plant/x", "qos": 128, "reasonCode": 135, "reason": "Not authorized"}`, 0, ""},
		"the request and a result":   {"mqtt.subscribe", map[string]any{"topic": "plant/x"}, `{"topic": "plant/x", "qos": 1, "granted": "yes", "info": "Not retained"}`, 1, ""},
		"a condition as the status":  {"invoke_command", nil, `{"clusterId": 6, "commandId": 2, "status": "CONSTRAINT_ERROR"}`, 0, "score"},
		"the state of a job":         {"job_status", nil, `{"jobId": 6, "queue": "a", "status": "RUN_FAILED"}`, 1, ""},
		"all but two":                {"importer.csv", nil, "Imported 118 of 120 rows. Line 4 and line 77 have no address.", 0.5, ""},
		"not while":                  {"car.precondition", nil, "Not possible while the battery is below 20 %", 0, ""},
		"for some only":              {"billing.portal", map[string]any{"tenant": "t1"}, "Customer portal is only available for paid plans", 0, ""},
		"a bound":                    {"submit_job", map[string]any{"gpus": 9}, "Requested 9 GPUs, quota is 8", 0, ""},
		"more than there is":         {"run_instances", nil, "You have requested more capacity than your current limit of 0 allows.", 0, ""},
		"a door":                     {"garage.open", map[string]any{"door": 1}, "Door is blocked by the child lock", 0, ""},
		"only so much, in German":    {"lager.buchen", map[string]any{"menge": 40}, "Es sind nur noch 12 Stück am Lager.", 0, ""},
		"what is completed":          {"ftp_put", nil, "226 Transfer complete.", 1, ""},
		"rejected by the other side": {"git_push", nil, "To example.com:a/b.git\n ! [remote rejected] main -> main (hook declined)", 0, ""},
	})
}

// Texts about errors, from tools that tell of them.
func TestTellingOfErrors(t *testing.T) {
	run(t, map[string]example{
		"rules of the world":    {"rules.get", map[string]any{"id": "R-12"}, "Invoices above 10,000 EUR must be approved by two owners before they are paid.", 1, ""},
		"a description":         {"library.describe", map[string]any{"topic": "opening an account"}, "You must be at least 18 years old and need a valid passport.", 1, ""},
		"a numbered list":       {"search.web", q("ORA-00942"), "1. ORA-00942: table or view does not exist - how to fix\n2. Granting access", 1, ""},
		"two lines of a log":    {"chat.history", map[string]any{"channel": "ops"}, "ann: deploy failed again, permission denied on prod\nbob: looking, please wait", 1, ""},
		"a state, with reasons": {"uptime.status", map[string]any{"site": "shop"}, "shop is DOWN since 09:41 (connection refused), 2 incidents this week", 1, ""},
		"an answer about one":   {"agent.ask", map[string]any{"q": "Why did the build fail?"}, "The build failed because the registry token had expired.", 1, ""},
		"a job that was run":    {"run_job", map[string]any{"id": "j-7"}, `{"id": "j-7", "state": "FAILED", "exit_code": 1, "started": "2024-05-02T08:00:00Z"}`, 0, "exit-code"},
		"what was read, abroad": {"訂單.検索", map[string]any{"q": "エラー 504"}, "504 エラーは、サーバーが時間内に応答しなかったことを示します。", 0.5, ""},
	})
}
