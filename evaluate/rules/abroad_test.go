package rules_test

import "testing"

// Complaints in other languages, replies of line protocols, replies that are but a code
// and a message, and what looks like them.
func TestComplaintsWithoutEnglish(t *testing.T) {
	run(t, map[string]example{
		"German":              {"post_invoice", nil, "Der Beleg 4711 konnte nicht gebucht werden: Periode ist gesperrt.", 0, ""},
		"German, all well":    {"post_invoice", nil, "Beleg 4712 wurde gebucht. Keine Fehler.", 1, ""},
		"French status":       {"get_customer", nil, `{"statut":"erreur","message":"La référence A1 n'existe pas."}`, 0, ""},
		"Portuguese flag":     {"get_order", nil, `{"sucesso":false,"mensagem":"Não foi possível localizar o pedido"}`, 0, "body-flag"},
		"Portuguese, none":    {"send_order", nil, `{"sucesso":true,"mensagem":"Pedido enviado","erros":[]}`, 1, ""},
		"Japanese":            {"save", nil, "ファイルを保存できませんでした: エラーが発生しました", 0, ""},
		"Japanese, all well":  {"run_job", nil, "処理が完了しました。エラーはありません。", 1, ""},
		"Arabic":              {"save", nil, "حدث خطأ: الملف غير موجود", 0, ""},
		"read, not said":      {"search", q("x"), "La ville n'existe pas dans le roman.", 0.5, ""},
		"a long text":         {"fetch", map[string]any{"url": "https://x"}, "Warum der Start nicht möglich war\n\nEin Bericht.\n\nErster Teil.\n\nZweiter Teil.\n\nDritter Teil.", 1, ""},
		"SMTP":                {"send_mail", nil, "550 5.1.1 <a@example.com>: Recipient address rejected: User unknown", 0, ""},
		"SMTP, taken":         {"send_mail", nil, "250 2.0.0 Ok: queued as 9F3B2C0A1", 1, ""},
		"FTP":                 {"put_file", nil, "553 Could not create file.", 0, ""},
		"a number of things":  {"count_rows", nil, "512 rows in the table of errors", 1, ""},
		"IMAP":                {"fetch_mail", nil, "A1 NO [NONEXISTENT] Unknown Mailbox: Archive", 0, ""},
		"IMAP, given":         {"fetch_mail", nil, "A2 OK Success", 1, ""},
		"a code, a message":   {"estimate", nil, `{"code":"distance_exceeded","message":"Distance between two points exceeds 100 miles"}`, 0, ""},
		"a good code":         {"estimate", nil, `{"code":"request_accepted","message":"We will call you."}`, 1, ""},
		"a name in capitals":  {"capture", nil, `{"name":"UNPROCESSABLE_ENTITY","message":"Business validation.","debug_id":"9"}`, 0, "score"},
		"a name, a record":    {"get_item", nil, `{"id":7,"name":"BLUE_MUG","message":"Thank you","price":3,"stock":4,"shop":"a"}`, 1, ""},
		"none of its own":     {"update", nil, `{"data":{"productUpdate":{"product":{"id":"1"},"userErrors":[]}}}`, 1, ""},
		"nulls are no result": {"query", nil, `{"data":{"Get":null},"errors":[{"message":"Cannot query field \"A\"","path":["Get"]}]}`, 0, ""},
		"zeros are one":       {"query", nil, `{"data":{"count":0},"error":"partial shard failure"}`, 0.5, "error-banner"},
	})
}

// Sentences that tell the caller what had to be otherwise, complaints behind a name, and
// counts that are no messages.
func TestShortComplaints(t *testing.T) {
	run(t, map[string]example{
		"only such":           {"write_rows", nil, "Only write operations (INSERT, UPDATE, DELETE) are allowed for write_query", 0, ""},
		"only in a document":  {"ask", q("policy"), "Only guests are allowed. They come at noon.\nDogs stay outside.", 1, ""},
		"something first":     {"bash", sh("git bisect good"), `You need to start by "git bisect start"`, 0, ""},
		"an apology":          {"book_table", nil, "We're sorry, the restaurant takes no parties of more than 8.", 0, ""},
		"under a name":        {"bind", nil, "ldap_bind: Invalid credentials (49)", 0, ""},
		"an errno":            {"can_send", nil, "write: No buffer space available", 0, ""},
		"a line among others": {"bash", sh("smartctl -a /dev/sda"), "smartctl 7.3\n/dev/sda: Unable to detect device type\nPlease specify device type with the -d option.", 0, ""},
		"a passed test":       {"bash", sh("npm test"), "PASS a.test.ts\n  ✓ throws Error: not found (3 ms)\n\nTests:       1 passed, 1 total", 1, ""},
		"hunks":               {"bash", sh("git apply a.patch"), "checking file t.txt\nHunk #1 FAILED at 1.\n1 out of 1 hunk FAILED", 0, ""},
		"no hunk":             {"bash", sh("run-tasks"), "done\n0 of 5 tasks failed", 1, ""},
		"compilation":         {"bash", sh("perl p.pl"), "Global symbol \"$x\" requires explicit package name at p.pl line 2.\nExecution of p.pl aborted due to compilation errors.", 0, ""},
		"a row of a table":    {"bash", sh("psql -c 'select status from jobs'"), " status\n--------\n failed\n error\n(2 rows)", 1, ""},
		"errors: none":        {"bash", sh("zpool status"), "  pool: tank\n state: ONLINE\nerrors: No known data errors", 1, ""},
		"errors: how many":    {"bash", sh("awk '/x/ {n++} END {print \"errors:\", n}' a.log"), "errors: 3", 1, ""},
		"errors: which":       {"check", nil, "errors: unknown host a", 0, ""},
	})
}
