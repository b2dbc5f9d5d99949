package rules_test

import "testing"

// A short answer is read for what it denies, demands or deplores of the call that it
// answers. The same words about the world, from a tool that tells of it, are content.
func TestUnmetConditions(t *testing.T) {
	id := map[string]any{"report_id": "R-77", "page_size": 900}
	run(t, map[string]example{
		"a member must have something":      {"upload_batch", map[string]any{"files": []any{"a"}}, "each file must have a checksum", 0, ""},
		"two members exclude one another":   {"list_invoices", map[string]any{"tag": "a"}, "tag and customer_id are mutually exclusive", 0, ""},
		"members in the wrong order":        {"list_invoices", map[string]any{"since": "2024-02-02", "until": "2024-01-01"}, "'since' date is after 'until' date", 0, ""},
		"already done":                      {"close_report", id, "Report R-77 has already been completed", 0, ""},
		"a state in which it cannot":        {"print_report", id, "The printer is offline", 0, ""},
		"a bound":                           {"insert_row", map[string]any{"index": 99}, "Row index 99 is out of range", 0, ""},
		"what was expected and what came":   {"merge_cells", id, "Expected 2 ranges but found 3", 0, ""},
		"turned down":                       {"create_space", id, "space creation declined by user", 0, ""},
		"turning down is what it does":      {"decline_invitation", id, "Invitation declined", 1, ""},
		"go somewhere first":                {"list_projects", nil, "You need to connect to a server before you can list its projects.", 0, ""},
		"only so much":                      {"reserve_seats", map[string]any{"seats": 4}, "Only 2 seats left", 0, ""},
		"of the command":                    {"bash", sh("git merge nosuch"), "merge: nosuch - not something we can merge", 0, ""},
		"done, with a remark":               {"set_heating", map[string]any{"target": 20}, "Target set to 20 °C. The window is not closed.", 1, ""},
		"done, by its mark":                 {"remove_account", id, "✅ Disconnected. Your credentials have been removed.", 1, ""},
		"done to it":                        {"update_issue", id, "Issue 12 has been archived", 1, ""},
		"done to the caller":                {"update_issue", id, "Your workspace has been archived", 0, ""},
		"done, in brackets":                 {"update_report", id, "Report R-77 updated (not published)", 1, ""},
		"about the world":                   {"weather", map[string]any{"city": "Paris"}, "It is not raining in Paris.", 1, ""},
		"advice":                            {"horoscope", map[string]any{"sign": "leo"}, "You should not hurry today.", 1, ""},
		"a finding":                         {"verify_signature", id, "Report R-77 has been changed since it was signed", 1, ""},
		"denial abroad":                     {"book_seat", id, "No quedan plazas en el tren.", 0, ""},
		"demand abroad":                     {"publish_item", id, "注文番号が正しくありません。", 0, ""},
		"done abroad":                       {"book_pickup", id, "Abholung wurde gebucht, es ist nichts weiter zu tun.", 1, ""},
		"an entry of a dictionary":          {"glossary", map[string]any{"term": "denied"}, "denied: refused to give", 1, ""},
		"a translation":                     {"translate_text", map[string]any{"text": "Zugriff verweigert", "to": "en"}, "Access denied", 1, ""},
		"a quotation":                       {"add_note", id, `Noted: "root cause: connection refused by the database"`, 1, ""},
		"a step that failed":                {"create_alert_rule", id, "create alert rule: invalid duration format: soon", 0, ""},
		"a file that is named for an error": {"download_images", id, "Downloaded 2 images:\n- error-icon.svg: 24x24\n- warning.svg: 24x24", 1, ""},
		"a definition":                      {"read_page", map[string]any{"page": "403"}, "HTTP 403 Forbidden is a status code.", 1, ""},
		"a log":                             {"get_pod_log", id, "E0502 10:00:01 a.go:88] sync failed: context deadline exceeded\nI0502 10:00:05 a.go:91] synced", 1, ""},
	})
}

// Tools that act on many things count them: none done is a failure, some is half one.
func TestTallies(t *testing.T) {
	run(t, map[string]example{
		"all of many":         {"import_rows", nil, "Imported 98 rows, 0 failed", 1, ""},
		"none of a body":      {"send_mails", nil, `{"sent": 7, "failed": 0}`, 1, ""},
		"counts that it read": {"get_statistics", nil, `{"sent": 0, "failed": 3}`, 1, ""},
	})
}

// What structured replies say of a failure beside flags, codes and members named error.
func TestRepliesThatFailOtherwise(t *testing.T) {
	run(t, map[string]example{
		"the last error of a record": {"get_payment", nil, `{"id": "p1", "state": "open", "last_payment_error": {"code": "card_declined", "message": "Declined."}}`, 1, ""},
		"behind a word":              {"create_order", nil, `acme {"code": -1013, "msg": "Filter failure: LOT_SIZE"}`, 0, ""},
		"a condition in brackets":    {"show_group", nil, "(ResourceGroupNotFound) There is no group 'rg1'.\nCode: ResourceGroupNotFound\nMessage: There is no group 'rg1'.", 0, ""},
		"answers of people":          {"form_responses", nil, `{"total": 1, "items": [{"answers": [{"type": "text", "text": "The app crashes with an error"}]}]}`, 1, ""},
	})
}
