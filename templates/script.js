"use strict";
// The page says everything without this: it only copies a text, and folds a whole plan at once.
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("pre").textContent;
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      copied = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = copied ? "Copied" : "Select it and copy by hand";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
for (const button of document.querySelectorAll("button.fold")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const nodes = [...button.closest(".plan").querySelectorAll("details.node")];
    const open = !nodes.some((node) => node.open);
    for (const node of nodes) node.open = open;
    button.textContent = open ? "Fold all" : "Unfold all";
  });
}
