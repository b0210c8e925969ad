// What a page can do more with scripts; everything works without.
"use strict";

// Copying: the buttons are hidden until there is something behind them.
function showCopyButtons(root) {
  for (const button of root.querySelectorAll("button.copy")) {
    button.hidden = !navigator.clipboard;
  }
}

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  const before = button.getAttribute("aria-label");
  button.classList.add("copied");
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => {
    button.classList.remove("copied");
    button.setAttribute("aria-label", before);
  }, 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) {
    copy(button);
  }
});

// What cannot be undone is asked about first.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) {
    event.preventDefault();
  }
});

// A form that is sent twice by a double click is sent once.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") {
    return;
  }
  if (form.dataset.sent) {
    event.preventDefault();
  }
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, 2000);
});

// Leaving a page asks first while a guarded form has text that is not saved: text that was typed, or text that the
// server has sent back. Saving that form does not ask.
function isUnsaved(form) {
  return form.dataset.guard === "unsaved"
    || [...form.elements].some((field) => "defaultValue" in field && field.value !== field.defaultValue);
}

let saving = null;

document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented) {
    saving = event.target;
  }
});

window.addEventListener("beforeunload", (event) => {
  const forms = [...document.querySelectorAll("form[data-guard]")].filter((form) => form !== saving);
  // For this departure alone: a save that the browser gives up for another link asks again.
  saving = null;
  if (forms.some(isUnsaved)) {
    event.preventDefault();
  }
});

// A time says in its title what it is in the reader's own time zone.
function showLocalTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const local = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "long" });
    time.title = `${local} (${time.dateTime.slice(0, 19).replace("T", " ")} UTC)`;
  }
}

function complete(root) {
  showCopyButtons(root);
  showLocalTimes(root);
}

complete(document);
document.addEventListener("htmx:load", (event) => complete(event.target));
