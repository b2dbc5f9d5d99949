package llmtest

// labelReplies are words for scores, and no JSON.
func labelReplies() []BrokenReply {
	return []BrokenReply{
		must("score as the word success", 1, `{"score": "success", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as the word Success", 1, `{"score": "Success", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as the word SUCCESS", 1, `{"score": "SUCCESS", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as the word failure", 0, `{"score": "failure", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as the word Failure", 0, `{"score": "Failure", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as the word failed", 0, `{"score": "failed", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as the word partial", 0.5, `{"score": "partial", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		must("score as the word Partial", 0.5, `{"score": "Partial", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as the word partial success", 0.5, `{"score": "partial success", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		must("score as the word successful", 1, `{"score": "successful", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as the word unsuccessful", 0, `{"score": "unsuccessful", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as the word not successful", 0, `{"score": "not successful", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as the word fail", 0, `{"score": "fail", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as the word pass", 1, `{"score": "pass", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as the word error", 0, `{"score": "error", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as the word good", 1, `{"score": "good", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as the word bad", 0, `{"score": "bad", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as the word full", 1, `{"score": "full", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as the word one", 1, `{"score": "one", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as the word zero", 0, `{"score": "zero", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as the word half", 0.5, `{"score": "half", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("a bare number", 1, "1.0"),
		may("a bare zero", 0, "0"),
		may("a bare label", 0, "failure"),
		may("a sentence with a score", 1, "Score: 1.0"),
		may("a sentence with a fraction", 1, "I rate this call 10/10."),
		may("a score line and texts", 0.5, "Score: 0.5\nSummary: Half of the rows.\nEvaluation: Cut."),
		no("a sentence without a score", "The call worked well and returned ten results."),
		no("two scores in prose", "Score: 1.0 for the input, score: 0.0 for the output."),
		no("a scale in prose", "The score is one of 0.0, 0.5 and 1.0."),
	}
}
