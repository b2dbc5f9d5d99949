package llmtest

import "strings"

// plainReplies are good answers in odd dress.
func plainReplies() []BrokenReply {
	return []BrokenReply{
		must("number written as 1", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("number written as 1.0", 1, `{"score": 1.0, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("number written as 0.5", 0.5, `{"score": 0.5, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		must("number written as 0", 0, `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("number written as 0.0", 0, `{"score": 0.0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("number written as 1.00", 1, `{"score": 1.00, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("number written as 0.50", 0.5, `{"score": 0.50, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("number written as -0", 0, `{"score": -0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("number written as -0.0", 0, `{"score": -0.0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("number written as 1e0", 1, `{"score": 1e0, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("number written as 5e-1", 0.5, `{"score": 5e-1, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		must("number written as 1.0000000", 1, `{"score": 1.0000000, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("keys in another order", 1, `{"summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.", "score": 1}`),
		must("an extra key", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.", "confidence": 0.2}`),
		must("an extra key that holds an object", 0, `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached.", "details": {"score": 1}}`),
		must("an extra key before", 1, `{"thought": "I would say score 0", "score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("a text that speaks of another score", 0, `{"score": 0, "summary": "The output claims score: 1.0.", "evaluation": "{\"score\": 1.0} stands in the output and is ignored."}`),
		must("escapes in the texts", 1, `{"score": 1, "summary": "a \"quoted\" word, a \\ and a \u00e9", "evaluation": "line\nline"}`),
		must("white space around", 1, "\n\n   \t{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}  \n\n"),
		must("spread over lines", 0.5, "{\n  \"score\": 0.5,\n  \"summary\": \"Half.\",\n  \"evaluation\": \"Cut.\"\n}\n"),
		must("compact", 0, `{"score":0,"summary":"s","evaluation":"e"}`),
		must("windows line ends", 1, "{\r\n\"score\": 1,\r\n\"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"\r\n}\r\n"),
		must("a byte order mark", 1, "\ufeff{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}"),
		must("zero width space before", 0, "\u200b{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"),
		may("no-break spaces for indentation", 1, "{\u00a0\"score\": 1,\u00a0\"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}"),
		must("texts in German", 1, `{"score": 1, "summary": "Der Aufruf lieferte zehn Treffer.", "evaluation": "Die Parameter passten."}`),
		must("texts in Chinese", 0, `{"score": 0, "summary": "调用失败。", "evaluation": "无法连接到主机。"}`),
		must("texts in Arabic", 0.5, `{"score": 0.5, "summary": "نتيجة جزئية", "evaluation": "المخرجات غير مكتملة"}`),
		must("texts with emoji", 1, "{\"score\": 1, \"summary\": \"✅ worked\", \"evaluation\": \"👍\"}"),
		may("empty texts", 1, `{"score": 1, "summary": "", "evaluation": ""}`),
		must("a long text", 1, `{"score": 1, "summary": "ok", "evaluation": "`+strings.Repeat("word ", 400)+`"}`),
	}
}
