// Reads for answers.py what the tools of an MCP server answer, out of its scripts: prints one JSON object a line, with the
// label that the program gives an answer, the name of what makes it, and its text or structure, with {} for values.
// It needs acorn and acorn-walk, both of version 8.
//
//	node answers.js FOLDER
const fs = require("fs");
const path = require("path");
const acorn = require("acorn");
const walk = require("acorn-walk");

const keyOf = (p) => (p.type === "Property" ? p.key.name ?? p.key.value : undefined);
const isTrue = (n) => n?.value === true || (n?.type === "UnaryExpression" && n.argument.value === 0);
const isFalse = (n) => n?.value === false || (n?.type === "UnaryExpression" && n.argument.value === 1);

// place names what is put in: an error, a number, a structure or a word.
function place(source) {
  if (/JSON\.stringify/.test(source)) return "{json}";
  if (/\.(length|size)\b|count|total/i.test(source)) return "{count}";
  if (/\berr\b|error|\be\.message|\bmessage\b|stderr|reason|cause/i.test(source)) return "{error}";
  if (/stdout|output|content|text|body|lines|\.join\(|result/i.test(source)) return "{text}";
  return "{}";
}

// textOf is the text that an expression makes.
function textOf(n, source) {
  switch (n?.type) {
    case "Literal":
      return typeof n.value === "string" ? n.value : undefined;
    case "TemplateLiteral":
      return n.quasis.map((q, i) => q.value.cooked + (i < n.expressions.length ? put(n.expressions[i], source) : "")).join("");
    case "BinaryExpression":
      return n.operator === "+" ? put(n.left, source) + put(n.right, source) : undefined;
    case "CallExpression":
      if (n.callee.property?.name === "stringify") return bodyOf(n.arguments[0], source);
      if (n.callee.property?.name === "join" && n.callee.object.type === "ArrayExpression") {
        return n.callee.object.elements.map((e) => put(e, source)).join(n.arguments[0]?.value ?? ",");
      }
  }
}

const put = (n, source) => textOf(n, source) ?? place(source.slice(n.start, n.end));

// bodyOf is the structure that an object literal makes, as JSON.
function bodyOf(n, source) {
  const value = (v) => {
    if (v.type === "Literal" && v.regex === undefined) return v.value;
    if (isTrue(v) || isFalse(v)) return isTrue(v);
    if (v.type === "ObjectExpression") return object(v);
    if (v.type === "ArrayExpression") return v.elements.slice(0, 3).map((e) => (e ? value(e) : null));
    const known = textOf(v, source);
    return known ?? place(source.slice(v.start, v.end));
  };
  const object = (o) => {
    const made = {};
    for (const p of o.properties) if (keyOf(p) !== undefined && !p.computed) made[keyOf(p)] = value(p.value);
    return made;
  };
  if (n?.type !== "ObjectExpression") return undefined;
  return { body: object(n) };
}

// maker is the name of what makes an answer: a tool, a case, or a function.
function maker(above) {
  for (let i = above.length - 1; i >= 0; i--) {
    const n = above[i];
    if (n.type === "CallExpression" && /^(tool|registerTool|addTool)$/.test(n.callee.property?.name) && typeof n.arguments[0]?.value === "string") {
      return n.arguments[0].value;
    }
    if (n.type === "SwitchCase" && typeof n.test?.value === "string" && /^[a-z][\w-]{3,}$/i.test(n.test.value)) return n.test.value;
    const name = n.type === "FunctionDeclaration" ? n.id?.name : n.type === "MethodDefinition" ? n.key.name : n.type === "VariableDeclarator" &&
      /Function/.test(n.init?.type) ? n.id.name : undefined;
    if (name?.length > 4 && !/^(handler|execute|constructor|callback|wrapper)$/.test(name)) return name;
  }
  return "";
}

const caught = (above) => {
  for (let i = above.length - 1; i >= 0; i--) {
    if (above[i].type === "CatchClause") return true;
  }
  return false;
};

function* answers(tree, source) {
  const found = [];
  walk.ancestor(tree, {
    ObjectExpression(n, _, above) {
      const members = Object.fromEntries(n.properties.map((p) => [keyOf(p), p.value]));
      const parts = members.content?.type === "ArrayExpression" ? members.content.elements : [];
      const texts = parts.filter((e) => e?.type === "ObjectExpression").flatMap((e) => e.properties.filter((p) => keyOf(p) === "text").map((p) => p.value));
      if (texts.length === 1) {
        const label = isTrue(members.isError) ? "error" : members.isError && !isFalse(members.isError) ? "" : caught(above) ? "caught" : "ok";
        const text = textOf(texts[0], source);
        if (label && text) found.push({ label, text, tool: maker(above) });
      }
      const state = members.success ?? members.ok;
      if (isTrue(state) || isFalse(state)) {
        const { body } = bodyOf(n, source);
        found.push({ label: isTrue(state) ? "ok" : "error", text: { body }, tool: maker(above), state: true });
      }
    },
    NewExpression(n, _, above) {
      const at = above[above.length - 2];
      if (at?.type !== "ThrowStatement") return;
      const text = n.arguments.map((a) => textOf(a, source)).find((t) => typeof t === "string");
      if (text) found.push({ label: "error", text, tool: maker(above), thrown: true });
    },
    CallExpression(n, _, above) {
      const name = n.callee.property?.name ?? n.callee.name ?? "";
      const label = /^(create|make|format|return|to)?_?(tool)?error_?(response|result|content|text|message)$/i.test(name) ? "error"
        : /^(create|make|format|return|to)?_?(tool)?(success|ok)_?(response|result|content|text|message)$/i.test(name) ? "ok" : "";
      const text = textOf(n.arguments[0], source);
      if (label && text) found.push({ label, text, tool: maker(above) });
    },
  });
  yield* found;
}

function* scripts(folder) {
  for (const e of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const at = path.join(folder, e.name);
    if (e.isDirectory()) {
      if (!/^(node_modules|__tests__|tests?|snapshot-tests|vendor|esm|_esm)$/.test(e.name)) yield* scripts(at);
    } else if (/\.[cm]?js$/.test(e.name) && !/\.(test|spec|min)\./.test(e.name) && fs.statSync(at).size < 4 << 20) yield at;
  }
}

for (const file of scripts(process.argv[2])) {
  const source = fs.readFileSync(file, "utf8").replace(/^#!.*/, "");
  let tree;
  for (const sourceType of ["module", "script"]) {
    try {
      tree ??= acorn.parse(source, { ecmaVersion: "latest", sourceType, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true });
    } catch {}
  }
  if (tree) for (const a of answers(tree, source)) console.log(JSON.stringify(a));
}
