package evaluate

import (
	"slices"
	"strings"
)

// brokenReply is an answer of a model that was asked for
//
//	{"score": 0 | 0.5 | 1, "summary": string, "evaluation": string}
//
// and what a judge's parser may make of it. A test of a parser checks
//
//	parsed, with a score:  r.Parsable && score == r.Score
//	not parsed:            !r.Parsable || r.Optional
//
// and allows does so. The guiding rule: what was meant may be repaired where
// only one meaning is possible; a wrong score is worse than none.
type brokenReply struct {
	Name string // unique
	Text string
	// Parsable says that the reply has one meaning, Score which; Score is 0
	// when there is none.
	Parsable bool
	Score    float64
	// Optional says that a stricter parser may give up on a Parsable reply: the
	// repair is far-fetched, or the score had to be moved to the scale.
	Optional bool
}

// Allows reports whether a parser may make this of the reply.
func (r brokenReply) allows(score float64, parsed bool) bool {
	if !parsed {
		return !r.Parsable || r.Optional
	}
	return r.Parsable && score == r.Score
}

// brokenReplies is the whole corpus, more than 200 replies, in a fixed order.
func brokenReplies() []brokenReply {
	return slices.Concat(plainReplies(), wrappedReplies(), syntaxReplies(), cutReplies(),
		scoreReplies(), labelReplies(), manyReplies(), nothingReplies())
}

// must is a reply that every parser has to understand.
func must(name string, score float64, text string) brokenReply {
	return brokenReply{Name: name, Text: text, Parsable: true, Score: score}
}

// may is a reply that a parser may understand, but only so.
func may(name string, score float64, text string) brokenReply {
	return brokenReply{Name: name, Text: text, Parsable: true, Score: score, Optional: true}
}

// no is a reply that no parser may make a score of.
func no(name, text string) brokenReply { return brokenReply{Name: name, Text: text} }

// plainReplies are good answers in odd dress.
func plainReplies() []brokenReply {
	return []brokenReply{
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

// wrappedReplies are answers with something around them.
func wrappedReplies() []brokenReply {
	return []brokenReply{
		must("fenced by ```json", 1, "```json\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n```"),
		must("fenced by ```", 1, "```\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n```"),
		must("fenced by ```JSON", 1, "```JSON\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n```"),
		must("fenced by ```javascript", 1, "```javascript\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n```"),
		must("fenced by ~~~json", 1, "~~~json\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n~~~"),
		must("fenced by ```json5", 1, "```json5\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n```"),
		must("fenced on one line", 0, "```json {\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"} ```"),
		must("fenced by single backticks", 1, "`{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}`"),
		must("fence never closed", 0.5, "```json\n{\"score\": 0.5, \"summary\": \"Half of the rows came.\", \"evaluation\": \"The output is cut after row fifty.\"}"),
		must("fence never opened", 0, "{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}\n```"),
		must("fenced with windows line ends", 1, "```json\r\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\r\n```\r\n"),
		must("fence inside prose", 0, "Here is my verdict:\n\n```json\n{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}\n```\n\nLet me know if you need more."),
		must("fences inside a text", 1, "{\"score\": 1, \"summary\": \"Prints ```json fences```.\", \"evaluation\": \"Good.\"}"),
		must("prose before", 1, `Sure! Here is the evaluation: {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("prose after", 0, "{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}\n\nThe call failed because the host is down."),
		must("prose on both sides", 0.5, "Evaluation follows.\n{\"score\": 0.5, \"summary\": \"Half of the rows came.\", \"evaluation\": \"The output is cut after row fifty.\"}\nHope this helps!"),
		must("prose with braces before", 1, `The input {"q": "x"} is fine. {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("prose with a lone brace before", 1, `Note the { in the output. {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("prose with brackets before", 0, `[INFO] done {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("prose with braces after", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."} (the input was {"q": 1})`),
		must("prose that names a score before", 0, `I first thought of score 1.0, but: {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("prose in German around", 1, `Hier ist die Bewertung: {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."} Viele Grüße.`),
		must("prose in Chinese around", 0, "评估结果如下：{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}。"),
		must("a heading and a rule", 1, "## Verdict\n---\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}\n---"),
		must("a bullet", 0.5, `- {"score": 0.5, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		must("bold", 1, `**{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}**`),
		must("a quote", 0, `> {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("xml tags around", 1, `<answer>{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}</answer>`),
		must("html code tags around", 0, `<pre><code>{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}</code></pre>`),
		must("a label before", 1, `JSON: {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("an assignment", 0, `result = {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."};`),
		must("a return statement", 1, `return {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("a role label", 1, `assistant: {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("thinking before", 1, "<think>The host answered, so it worked.</think>\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}"),
		must("thinking that holds another object", 0, `<think>Maybe {"score": 1, "summary": "x", "evaluation": "y"}? No, it failed.</think>{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("thinking in other tags", 1, "<thinking>hm, {\"score\": 0}</thinking>\n\n{\"score\": 1, \"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}"),
		must("reasoning tags", 0, `<reasoning>{"score": 1.0}</reasoning>{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("thinking closed but not opened", 0, "so it failed.</think>\n{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"),
		no("thinking never closed", `<think>The result looks right: {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("thinking and nothing else", "<think>It failed.</think>"),
		must("thinking, then a fence", 0.5, "<think>ok</think>\n```json\n{\"score\": 0.5, \"summary\": \"Half of the rows came.\", \"evaluation\": \"The output is cut after row fifty.\"}\n```"),
		must("channel markers", 0, `<|channel|>analysis<|message|>It failed.<|end|><|start|>assistant<|channel|>final<|message|>{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("end of text marker after", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}<|endoftext|>`),
		must("end of turn marker after", 0, `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}<|im_end|>`),
		must("instruction markers", 1, `[/INST] {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."} </s>`),
		must("an array of one", 1, `[{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}]`),
		may("a string that holds the object", 0, `"{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"`),
		may("a string of it inside prose", 0, `The answer is "{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"`),
		may("nested under result", 1, `{"result": {"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}}`),
		may("nested under evaluation", 0, `{"evaluation": {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}}`),
		may("nested twice", 0.5, `{"response": {"verdict": {"score": 0.5, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}}}`),
		may("nested in an array of one", 1, `{"evaluations": [{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}]}`),
		may("a tool call in text", 0, `{"name": "evaluate", "arguments": {"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}}`),
		may("a schema echoed before it", 0, "{\"type\": \"object\", \"properties\": {\"score\": {\"type\": \"number\"}}}\n{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"),
	}
}

// syntaxReplies are answers that are almost JSON.
func syntaxReplies() []brokenReply {
	return []brokenReply{
		must("trailing comma", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.",}`),
		must("trailing comma and line end", 0, "{\"score\": 0, \"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\",\n}"),
		may("two trailing commas", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.",,}`),
		may("comma missing", 1, `{"score": 1 "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("comma missing at a line end", 0.5, "{\"score\": 0.5\n\"summary\": \"Half of the rows came.\", \"evaluation\": \"The output is cut after row fifty.\"}"),
		may("comma missing between texts", 0, "{\"score\": 0, \"summary\": \"s\"\n\"evaluation\": \"e\"}"),
		may("leading comma", 1, `{, "score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("single quotes", 1, "{'score': 1, 'summary': 'Ten results.', 'evaluation': 'Fits.'}"),
		may("single quotes with an apostrophe escaped", 0, `{'score': 0, 'summary': 'It didn\'t work.', 'evaluation': 'No.'}`),
		may("single quotes around a text with double ones", 1, `{'score': 1, 'summary': 'a "b" c', 'evaluation': 'ok'}`),
		must("single quotes for keys only", 0.5, `{'score': 0.5, 'summary': "Half.", 'evaluation': "Cut."}`),
		must("keys without quotes", 1, `{score: 1, summary: "Ten results.", evaluation: "Fits."}`),
		must("keys without quotes over lines", 0, "{\n  score: 0,\n  summary: \"Failed.\",\n  evaluation: \"Down.\"\n}"),
		must("smart quotes", 1, "{“score”: 1, “summary”: “Ten results.”, “evaluation”: “Fits.”}"),
		may("smart single quotes", 0, "{‘score’: 0, ‘summary’: ‘Failed.’, ‘evaluation’: ‘Down.’}"),
		may("guillemets", 1, "{«score»: 1, «summary»: «Dix.», «evaluation»: «Bien.»}"),
		may("backtick quotes", 1, "{`score`: 1, `summary`: `Ten.`, `evaluation`: `Fits.`}"),
		may("full-width punctuation", 1, "｛\"score\"：1，\"summary\"：\"十件\"，\"evaluation\"：\"好\"｝"),
		must("a line comment", 1, "{\"score\": 1, // it worked\n\"summary\": \"The call returned ten results.\", \"evaluation\": \"The parameters fitted and the output answers them.\"}"),
		must("a block comment", 0, `{"score": 0, /* sadly */ "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("a hash comment", 0.5, "{\"score\": 0.5, # half\n\"summary\": \"Half of the rows came.\", \"evaluation\": \"The output is cut after row fifty.\"}"),
		must("a comment that names a score", 0, "{\"score\": 0, // not 1\n\"summary\": \"The call failed.\", \"evaluation\": \"The host could not be reached.\"}"),
		must("a raw line end in a text", 1, "{\"score\": 1, \"summary\": \"first\nsecond\", \"evaluation\": \"ok\"}"),
		must("a raw tab in a text", 1, "{\"score\": 1, \"summary\": \"a\tb\", \"evaluation\": \"ok\"}"),
		may("a raw NUL in a text", 1, "{\"score\": 1, \"summary\": \"a\u0000b\", \"evaluation\": \"ok\"}"),
		may("an unescaped quote in a text", 0, `{"score": 0, "summary": "The tool said "no" to it.", "evaluation": "e"}`),
		may("an unknown escape in a text", 1, `{"score": 1, "summary": "C:\dir\qux", "evaluation": "ok"}`),
		may("a bad unicode escape", 1, `{"score": 1, "summary": "\u00zz", "evaluation": "ok"}`),
		may("a lone surrogate", 1, `{"score": 1, "summary": "\ud83d", "evaluation": "ok"}`),
		may("equals signs", 1, `{"score" = 1, "summary" = "s", "evaluation" = "e"}`),
		may("arrows", 0, `{"score" => 0, "summary" => "s", "evaluation" => "e"}`),
		may("semicolons", 1, `{"score": 1; "summary": "s"; "evaluation": "e"}`),
		may("parentheses for braces", 1, `("score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.")`),
		may("double braces", 1, `{{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}}`),
		must("closing brace twice", 0, `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."}}`),
		may("opening brace twice", 1, `{{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("closed by a bracket", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."]`),
		may("no braces", 0, `"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached."`),
		may("python words", 1, `{"score": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them.", "flag": True, "other": None}`),
		may("javascript undefined", 0, `{"score": 0, "summary": "The call failed.", "evaluation": "The host could not be reached.", "other": undefined}`),
		may("number with a leading plus", 1, `{"score": +1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("number with a leading zero", 1, `{"score": 01, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("number with an open end", 1, `{"score": 1., "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("number with an open beginning", 0.5, `{"score": .5, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("number with a comma", 0.5, `{"score": 0,5, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("all escaped once more", 1, `{\"score\": 1, \"summary\": \"s\", \"evaluation\": \"e\"}`),
		may("python dict call", 1, "dict(score=1, summary='s', evaluation='e')"),
		may("yaml", 1, "score: 1\nsummary: Ten results.\nevaluation: Fits.\n"),
		may("yaml of a failure", 0, "score: 0.0\nsummary: Failed.\nevaluation: Down.\n"),
		may("toml", 0.5, "score = 0.5\nsummary = \"Half.\"\nevaluation = \"Cut.\"\n"),
		may("xml", 1, "<score>1</score><summary>Ten results.</summary><evaluation>Fits.</evaluation>"),
		may("markdown fields", 0, "**Score:** 0\n**Summary:** Failed.\n**Evaluation:** Down."),
		may("a markdown table", 1, "| score | summary | evaluation |\n|---|---|---|\n| 1 | Ten. | Fits. |"),
		may("json lines of one key each", 1, "{\"score\": 1}\n{\"summary\": \"s\"}\n{\"evaluation\": \"e\"}"),
	}
}

// cutReplies are answers that end too early.
func cutReplies() []brokenReply {
	return []brokenReply{
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

// scoreReplies are scores that are no plain number of the scale.
func scoreReplies() []brokenReply {
	return []brokenReply{
		must("score as \"1\"", 1, `{"score": "1", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"1.0\"", 1, `{"score": "1.0", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"0.5\"", 0.5, `{"score": "0.5", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		must("score as \"0\"", 0, `{"score": "0", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as \"0.0\"", 0, `{"score": "0.0", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as \" 1.0 \"", 1, `{"score": " 1.0 ", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"1,0\"", 1, `{"score": "1,0", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"0,5\"", 0.5, `{"score": "0,5", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as \"+1\"", 1, `{"score": "+1", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"100%\"", 1, `{"score": "100%", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"50%\"", 0.5, `{"score": "50%", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		must("score as \"0%\"", 0, `{"score": "0%", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as \"100 %\"", 1, `{"score": "100 %", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as 100%", 1, `{"score": 100%, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"95%\"", 1, `{"score": "95%", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"10%\"", 0, `{"score": "10%", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as \"1/1\"", 1, `{"score": "1/1", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"0/1\"", 0, `{"score": "0/1", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as \"10/10\"", 1, `{"score": "10/10", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"0/10\"", 0, `{"score": "0/10", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as \"5/10\"", 0.5, `{"score": "5/10", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as \"8/10\"", 1, `{"score": "8/10", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"2/10\"", 0, `{"score": "2/10", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		must("score as \"5/5\"", 1, `{"score": "5/5", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"100/100\"", 1, `{"score": "100/100", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		must("score as \"1/2\"", 0.5, `{"score": "1/2", "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as 10/10", 1, `{"score": 10/10, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"10 out of 10\"", 1, `{"score": "10 out of 10", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"1.0 (success)\"", 1, `{"score": "1.0 (success)", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as \"0 - failed\"", 0, `{"score": "0 - failed", "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as 0.9", 1, `{"score": 0.9, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as 0.95", 1, `{"score": 0.95, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as 0.99", 1, `{"score": 0.99, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as 0.1", 0, `{"score": 0.1, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as 0.05", 0, `{"score": 0.05, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		may("score as 0.6", 0.5, `{"score": 0.6, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as 0.4", 0.5, `{"score": 0.4, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as 1.0000001", 1, `{"score": 1.0000001, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as 0.4999999", 0.5, `{"score": 0.4999999, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as 0.33", 0.5, `{"score": 0.33, "summary": "Half of the rows came.", "evaluation": "The output is cut after row fifty."}`),
		may("score as 0.8", 1, `{"score": 0.8, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as 100", 1, `{"score": 100, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as [1]", 1, `{"score": [1], "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as {\"value\": 1}", 1, `{"score": {"value": 1}, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as true", 1, `{"score": true, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score as false", 0, `{"score": false, "summary": "The call failed.", "evaluation": "The host could not be reached."}`),
		no("score as NaN", `{"score": NaN, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"NaN\"", `{"score": "NaN", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as Infinity", `{"score": Infinity, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as -Infinity", `{"score": -Infinity, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as null", `{"score": null, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"\"", `{"score": "", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"  \"", `{"score": "  ", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as []", `{"score": [], "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as {}", `{"score": {}, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as -1", `{"score": -1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as -0.5", `{"score": -0.5, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"-1\"", `{"score": "-1", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as [0, 1]", `{"score": [0, 1], "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"0 or 1\"", `{"score": "0 or 1", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"0-1\"", `{"score": "0-1", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"0|0.5|1\"", `{"score": "0|0.5|1", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"<score>\"", `{"score": "<score>", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"unknown\"", `{"score": "unknown", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"n/a\"", `{"score": "n/a", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"?\"", `{"score": "?", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"not a number\"", `{"score": "not a number", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as 2000", `{"score": 2000, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as 1e999", `{"score": 1e999, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"1/0\"", `{"score": "1/0", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"11/10\"", `{"score": "11/10", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as \"150%\"", `{"score": "150%", "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score as {\"min\": 0, \"max\": 1}", `{"score": {"min": 0, "max": 1}, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("score missing", `{"summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score under another name", 1, `{"rating": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		may("score with a capital", 1, `{"Score": 1, "Summary": "s", "Evaluation": "e"}`),
		may("score in capitals", 0, `{"SCORE": 0, "SUMMARY": "s", "EVALUATION": "e"}`),
		may("score key with a blank", 1, `{"score ": 1, "summary": "The call returned ten results.", "evaluation": "The parameters fitted and the output answers them."}`),
		no("keys in German", `{"Bewertung": 1, "Zusammenfassung": "s", "Begründung": "e"}`),
		no("keys in Chinese", `{"评分": 1, "摘要": "s", "评价": "e"}`),
	}
}

// labelReplies are words for scores, and no JSON.
func labelReplies() []brokenReply {
	return []brokenReply{
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

// manyReplies are more than one answer.
func manyReplies() []brokenReply {
	return []brokenReply{
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

// nothingReplies are no answer at all.
func nothingReplies() []brokenReply {
	return []brokenReply{
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
