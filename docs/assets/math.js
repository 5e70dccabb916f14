// Draws the formulas that pymdownx.arithmatex marks: \(...\) in a span, \[...\] in a div.
for (const element of document.querySelectorAll(".arithmatex")) {
  const tex = element.textContent.trim().slice(2, -2)
  katex.render(tex, element, { displayMode: element.tagName === "DIV", throwOnError: false })
}
