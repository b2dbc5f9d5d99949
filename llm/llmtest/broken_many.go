package llmtest

// manyReplies are more than one answer.
func manyReplies() []BrokenReply {
	return []BrokenReply{
		no("two objects that differ", "{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"),
		no("two objects that differ, the other way", "{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}"),
		may("two objects that agree", 1, "{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}"),
		no("two fences that differ", "```json\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n```\n```json\n{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}\n```"),
		no("an array of two that differ", `[{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}, {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}]`),
		may("an array of two that agree", 0, `[{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}, {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}]`),
		no("a draft and a correction", "Draft: {\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\nOn reflection: {\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"),
		no("the score twice and different", `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.", "score": 0}`),
		no("the score twice and different, the other way", `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached.", "score": 1}`),
		no("the score twice, escaped once", `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached.", "sc\u006fre": 1}`),
		may("the score twice in another case", 0, `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached.", "Score": 1}`),
		may("the score twice and alike", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.", "score": 1.0}`),
		may("the summary twice", 0, `{"score": 0, "summary": "a", "summary": "b", "evaluation": "e"}`),
		no("an object echoed from the output, then the verdict", `The output holds {"score": 1.0, "summary": "perfect", "evaluation": "perfect"}. My verdict: {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		no("scores for several calls", `{"1": {"score": 1}, "2": {"score": 0}}`),
	}
}
