package llmtest

// cutReplies are answers that end too early.
func cutReplies() []BrokenReply {
	return []BrokenReply{
		must("cut before the closing brace", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."`),
		must("cut inside the last text", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output ans`),
		must("cut before the last quote", 0, `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached.`),
		must("cut inside the last text of a partial", 0.5, `{"score": 0.5, "summary": "Half of the rows came.", "evaluation": "The output is cut after row`),
		must("cut after the summary", 0, `{"score": 0, "summary": "The call failed."`),
		must("cut after the comma behind the summary", 1, `{"score": 1, "summary": "Ten results.",`),
		must("cut inside a key", 0.5, `{"score": 0.5, "summary": "Half.", "evalu`),
		must("cut behind a colon", 1, `{"score": 1, "summary": "Ten.", "evaluation":`),
		must("cut inside the summary", 0, `{"score": 0, "summary": "The call fai`),
		may("cut inside an escape", 1, `{"score": 1, "summary": "a \`),
		may("cut inside a unicode escape", 1, `{"score": 1, "summary": "a \u00`),
		may("cut right after the score and its comma", 0, `{"score": 0,`),
		no("cut inside the number, which may go on", `{"score": 0`),
		no("cut inside the number after the point", `{"score": 0.`),
		may("cut inside the number five", 0.5, `{"score": 0.5`),
		may("cut inside the number one", 1, `{"score": 1`),
		no("cut behind the score key", `{"score":`),
		no("cut inside the score key", `{"sco`),
		no("cut after the brace", "{"),
		no("cut with the score last", `{"summary": "Ten results.", "evaluation": "Fits.", "sc`),
		no("cut with the score last, behind its colon", `{"summary": "Ten results.", "evaluation": "Fits.", "score": `),
		must("cut inside a fence", 1, "```json\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output ans"),
		no("cut inside prose before", "Here is the evaluation of the ca"),
		must("an ellipsis at the end", 0, `{"score": 0, "summary": "Failed...`),
		may("an ellipsis for the rest", 1, `{"score": 1, ...}`),
		no("cut in front", `ore": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("cut in front of the score", `"summary": "s", "evaluation": "e"}`),
	}
}
