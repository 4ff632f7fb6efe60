// Permission requests and questions. A pending one is a form with data-answer: permission
// or interrupt; answerOf reads what the user chose. The page sends it if it is live.

import { element } from "./dom.js";
import { scrolling, statusLabel, valueView } from "./cards.js";
import { markdownOf } from "./markdown.js";

const byNames = { user: "by you", policy: "by a policy", runtime: "by the runtime" };

function headOf(icon, title, block) {
  const { status } = block.data;
  const by = byNames[(block.data.permission ?? block.data.interrupt)?.by];
  return element(
    "p", { class: "head" }, element("span", { class: `icon icon-${icon}`, "aria-hidden": "true" }), element("span", { class: "name" }, title),
    element("span", { class: `state state-${status}` }, statusLabel(status), by ? ` ${by}` : ""),
  );
}

const button = (value, text, first) => element("button", { type: "submit", name: "choice", value, class: first ? "first" : null }, text);

// names makes the ids of fields differ: a page has many forms.
const fieldName = (block, i) => `${block.data.kind}-${block.data.id}-${i}`;

export function permissionForm(block) {
  const { permission, status, id } = block.data;
  const input = permission.input ?? {};
  const shown = typeof input.command === "string" ? scrolling("command", "Command", `$ ${input.command}`) : Object.keys(input).length > 0 ? element("div", { class: "input" }, valueView(input)) : null;
  const pending = status === "pending";
  return element(
    "form", { class: "card question", "data-status": status, "data-answer": pending ? "permission" : null, "data-id": id },
    headOf("permission", `${pending ? "May" : "Permission for"} ${permission.tool ?? "a tool"}${pending ? " run?" : ""}`, block),
    permission.reason ? element("p", null, permission.reason) : null,
    pending || !permission.tool_use_id ? shown : null, // else the tool's card shows it
    pending ? element("p", { class: "field" }, element("label", null, "Message if denied ", element("input", { name: "message", autocomplete: "off" }))) : null,
    pending ? element("p", { class: "buttons" }, button("allow", "Allow", true), button("session", "Allow for this session"), button("deny", "Deny"), button("cancel", "Deny and stop")) : null,
  );
}

function optionFields(block, i, question) {
  const type = question.multiSelect ?? question.multiple ? "checkbox" : "radio";
  const options = (question.options ?? []).map((o) => (typeof o === "string" ? { label: o } : o));
  const name = fieldName(block, i);
  return element(
    "fieldset", { "data-question": question.question ?? question.id ?? "" },
    element("legend", null, question.header ? element("span", { class: "tag" }, question.header) : null, question.question ?? question.title ?? "Your answer"),
    options.map((o) => element(
      "label", { class: "option" }, element("input", { type, name, value: o.label }), element("span", null, o.label),
      o.description && o.description !== o.label ? element("small", null, o.description) : null,
    )),
    question.isOther === false ? null : element("label", { class: "option" }, element("span", null, options.length > 0 ? "Other" : "Answer"), element("input", { type: question.isSecret ? "password" : "text", name: `${name}-other`, autocomplete: "off" })),
  );
}

const inputTypes = { integer: "number", number: "number", boolean: "checkbox" };

// schemaFields are the fields of a form that a JSON schema describes.
function schemaFields(block, schema) {
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).map(([name, s], i) => element(
    "p", { class: "field" },
    element(
      "label", null, `${s.title ?? name} `,
      Array.isArray(s.enum)
        ? element("select", { name: fieldName(block, i), "data-member": name }, s.enum.map((v) => element("option", null, v)))
        : element("input", { name: fieldName(block, i), "data-member": name, "data-type": s.type, type: inputTypes[s.type] ?? "text", step: s.type === "number" ? "any" : null, required: required.includes(name) && s.type !== "boolean", autocomplete: "off" }),
    ),
    s.description ? element("small", null, s.description) : null,
  ));
}

// questionsOf returns the questions of an interrupt, or undefined if it has another form.
function questionsOf(props) {
  if (Array.isArray(props.questions)) return props.questions;
  if (Array.isArray(props.options) || typeof props.question === "string") return [props];
  return undefined;
}

// bodyOf returns the fields and buttons of a pending interrupt, by the form of its props.
function bodyOf(block, props) {
  const schema = props.requestedSchema ?? props.requested_schema;
  if (schema || props.mode === "url" || props.mode === "form") {
    const url = typeof props.url === "string" && /^https?:/.test(props.url) ? props.url : null;
    return [
      props.message ? element("p", null, props.message) : null,
      url ? element("p", null, element("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, url)) : null,
      schema ? schemaFields(block, schema) : null,
      element("p", { class: "buttons" }, button("accept", "Send", true), button("decline", "Decline"), button("cancel", "Cancel")),
    ];
  }
  const questions = questionsOf(props);
  if (questions) return [questions.map((q, i) => optionFields(block, i, q)), element("p", { class: "buttons" }, button("answer", "Answer", true), button("deny", "Do not answer"))];
  return [
    typeof props.plan === "string" ? markdownOf(props.plan, { class: "text" }) : Object.keys(props).length > 0 ? valueView(props) : null,
    element("p", { class: "buttons" }, button("allow", "Approve", true), button("deny", "Reject")),
  ];
}

const titles = { exitplanmode: "Is the plan good?", plan: "Is the plan good?", elicitation: "A server asks", askuserquestion: "A question", question: "A question" };

export function interruptForm(block) {
  const { interrupt, status, id } = block.data;
  const pending = status === "pending";
  const props = interrupt.props ?? {};
  const title = titles[(interrupt.component ?? "").toLowerCase()] ?? interrupt.component ?? "A question";
  const answered = interrupt.value !== undefined && interrupt.value !== null && status === "answered";
  const namesQuestions = answered && Array.isArray(props.questions) && typeof interrupt.value === "object";
  return element(
    "form", { class: "card question", "data-status": status, "data-answer": pending ? "interrupt" : null, "data-id": id, "data-form": props.requestedSchema || props.requested_schema || props.mode ? "schema" : questionsOf(props) ? (Array.isArray(props.questions) ? "questions" : "option") : "plan" },
    headOf("question", title, block),
    pending ? bodyOf(block, props) : [
      typeof props.plan === "string" ? markdownOf(props.plan, { class: "text" }) : namesQuestions ? null : questionsOf(props)?.map((q) => (q.question ? element("p", null, q.question) : null)) ?? (props.message ? element("p", null, props.message) : null),
      answered ? element("div", { class: "answer" }, valueView(interrupt.value)) : null,
    ],
  );
}

// answerOf returns the route and the body of an answer: what the user chose in a form.
export function answerOf(form, choice) {
  const id = encodeURIComponent(form.dataset.id);
  if (form.dataset.answer === "permission") {
    const body = { decision: choice === "session" ? "allow" : choice, scope: choice === "session" ? "session" : undefined };
    const message = form.elements.namedItem("message").value.trim();
    if (message && choice !== "allow" && choice !== "session") body.message = message;
    return { route: `permission/${id}`, body };
  }
  return { route: `interrupt/${id}`, body: { value: interruptValue(form, choice) } };
}

function interruptValue(form, choice) {
  switch (form.dataset.form) {
    case "schema":
      return choice === "accept" ? { action: choice, content: membersOf(form) } : { action: choice };
    case "questions":
    case "option": {
      if (choice !== "answer") return choice;
      const answers = [...form.querySelectorAll("fieldset")].map((f) => [f.dataset.question, chosenIn(f)]);
      return form.dataset.form === "option" ? { option: answers[0][1] } : Object.fromEntries(answers);
    }
    default:
      return choice;
  }
}

// chosenIn returns the label that is chosen, or a list of them, or what was typed.
function chosenIn(fieldset) {
  const other = fieldset.querySelector("input[name$='-other']")?.value.trim();
  const checked = [...fieldset.querySelectorAll("input:checked")].map((i) => i.value);
  if (fieldset.querySelector("input[type=checkbox]")) return other ? [...checked, other] : checked;
  return other || checked[0] || "";
}

function membersOf(form) {
  const out = {};
  for (const field of form.querySelectorAll("[data-member]")) {
    if (field.type === "checkbox") out[field.dataset.member] = field.checked;
    else if (field.value === "") continue;
    else out[field.dataset.member] = field.type === "number" ? Number(field.value) : field.value;
  }
  return out;
}
