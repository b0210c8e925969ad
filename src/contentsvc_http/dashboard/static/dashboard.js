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
  // A button with words says so in its words; one with an icon alone in its label.
  const words = button.querySelector("span");
  const before = words ? words.textContent : button.getAttribute("aria-label");
  const say = (text) => (words ? (words.textContent = text) : button.setAttribute("aria-label", text));
  button.classList.add("copied");
  say("Copied");
  setTimeout(() => {
    button.classList.remove("copied");
    say(before);
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
    || [...form.elements].some(isChanged);
}

function isChanged(field) {
  if (field.type === "checkbox" || field.type === "radio") {
    return field.checked !== field.defaultChecked;
  }
  if (field.options) {
    const first = [...field.options].find((option) => option.defaultSelected) || field.options[0];
    return first && !first.selected;
  }
  return "defaultValue" in field && field.value !== field.defaultValue;
}

// Ctrl+S and Cmd+S save the post that is being edited.
document.addEventListener("keydown", (event) => {
  const form = document.querySelector("form.editor");
  if (form && event.key.toLowerCase() === "s" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    const save = form.querySelector("button[type=submit]");
    if (save) {
      form.requestSubmit(save);
    }
  }
});

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
    time.dataset.zoned ??= time.title;
    time.title = `${local} (${time.dataset.zoned})`;
  }
}

// What is wider than its place scrolls by the keyboard, too.
function reachWide() {
  for (const wide of document.querySelectorAll(".reading :is(table, pre)")) {
    if (wide.scrollWidth > wide.clientWidth) {
      wide.tabIndex = 0;
    }
  }
}

function complete(root) {
  showCopyButtons(root);
  showLocalTimes(root);
  reachWide();
}

// After an action, the keyboard goes on at the first field at fault, else at the notice instead of at the navigation.
const faulty = document.querySelector('main [aria-invalid="true"], main .at-fault :is(input, select, textarea)');
(faulty || document.querySelector("main > .notice"))?.focus();

complete(document);
document.addEventListener("htmx:load", (event) => complete(event.target));
