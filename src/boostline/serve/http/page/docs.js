// Renders /openapi.json. Everything is put in as text, never as markup.
"use strict";

function make(name, attributes, ...children) {
  const one = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  one.append(...children);
  return one;
}

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.oneOf) return schema.oneOf.map(typeOf).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  const limits = schema.maxLength ? `, at most ${schema.maxLength} characters` : schema.minimum !== undefined ? ` from ${schema.minimum}` : "";
  return [schema.type || "any"].flat().join(" or ") + limits;
}

function table(schema) {
  const required = schema.required || [];
  const row = ([name, field]) => make("tr", {}, make("td", {}, make("code", {}, name)), make("td", { class: "text" }, typeOf(field)),
    make("td", { class: "text" }, required.includes(name) ? "always" : ""), make("td", { class: "text" }, field.description || ""));
  return make("div", { class: "scroll" }, make("table", {}, ...Object.entries(schema.properties || {}).map(row)));
}

function section(title, schema, named) {
  if (!schema || !schema.$ref) return [];
  const name = schema.$ref.split("/").pop();
  const inner = Object.values(named[name].properties).map((field) => field.items || field).filter((field) => field.$ref);
  return [make("h3", {}, `${title}: ${name}`), table(named[name]), ...inner.flatMap((field) => section("with", field, named))];
}

async function show() {
  const told = await (await fetch("openapi.json")).json();
  const named = told.components.schemas;
  const all = Object.entries(told.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
  const order = ["rank", "feedback", "any", "admin", undefined];
  all.sort((a, b) => order.indexOf(a.operation["x-role"]) - order.indexOf(b.operation["x-role"]));
  for (const { path, method, operation } of all) {
    const role = operation["x-role"];
    const [kind, answer] = Object.entries(operation.responses["200"].content)[0];
    const body = operation.requestBody && Object.values(operation.requestBody.content)[0].schema;
    document.getElementById("operations").append(make("section", {},
      make("h2", {}, make("code", {}, `${method.toUpperCase()} ${path}`)),
      make("p", {}, operation.summary, " ", make("span", { class: "dim" }, role ? `role ${role}` : "no token", kind.includes("ndjson") ? " · JSON lines" : "")),
      ...section("body", body, named), ...section("answer", answer.schema, named)));
  }
}
show();
