"use strict";
// Adds a copy button beside each address. Without scripts, the address is text that can be selected.
for (const field of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${field.dataset.copy}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.textContent);
    button.textContent = "Copied";
  });
  if (navigator.clipboard) field.after(button);
}
