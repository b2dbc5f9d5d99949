package llmtest

import "strings"

// nothingReplies are no answer at all.
func nothingReplies() []BrokenReply {
	return []BrokenReply{
		no("nothing", ""),
		no("blanks", "   \n\t "),
		no("an empty object", "{}"),
		no("an empty array", "[]"),
		no("null", "null"),
		no("true", "true"),
		no("an empty string", `""`),
		no("an empty fence", "```json\n```"),
		no("a refusal", "I'm sorry, but I can't help with evaluating this."),
		no("a refusal in German", "Es tut mir leid, dabei kann ich nicht helfen."),
		no("a question", "Could you please provide the output of the tool?"),
		no("the schema", `{"type": "object", "properties": {"score": {"type": "number", "enum": [0, 0.5, 1]}}, "required": ["score"]}`),
		no("the template", `{"score": 0|0.5|1, "summary": "...", "evaluation": "..."}`),
		no("the template with types", `{"score": number, "summary": string, "evaluation": string}`),
		no("another object", `{"city": "Paris", "temperature": 21}`),
		no("an error object", `{"error": {"message": "overloaded", "code": 503}}`),
		no("html", "<html><body><h1>502 Bad Gateway</h1></body></html>"),
		no("control characters", "\u0000\u0001\u0002"),
		no("invalid UTF-8", "\xff\xfe{"),
		no("one quote", `"`),
		no("deep nesting", strings.Repeat("[", 2000)),
		no("deep objects", strings.Repeat("{\"a\":", 2000)),
		no("many braces", strings.Repeat("{", 3000)+strings.Repeat("}", 3000)),
		no("a long line of one letter", strings.Repeat("a", 20000)),
		no("repeated words", strings.Repeat("the ", 1500)),
		no("code", "def judge(call):\n    return {\"summary\": call}"),
		no("a diff", "-{\"old\": 1}\n+{\"new\": 2}"),
		no("base64", "eyJzY29yZSI6IDF9"),
		no("a number out of all scales", "42"),
	}
}
