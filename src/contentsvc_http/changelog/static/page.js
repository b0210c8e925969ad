"use strict";
// A time has the reader's own time zone in its title. Without scripts, the title is in UTC.
for (const time of document.querySelectorAll("time[datetime*=T]")) {
  const local = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  time.title = time.title ? `${local} (${time.title})` : local;
}
// A table that is wider than its page scrolls by the keyboard, too.
for (const table of document.querySelectorAll(".prose table")) {
  if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
}
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
