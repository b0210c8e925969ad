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
  event.submitter?.setAttribute("aria-busy", "true");
  setTimeout(() => delete form.dataset.sent, 2000);
});

// A button shows that its form is on its way, until the browser has left the page or comes back to it.
window.addEventListener("pageshow", () => {
  document.querySelectorAll("button[aria-busy]").forEach((button) => button.removeAttribute("aria-busy"));
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

// A form that was refused, or sent after the session had ended, comes back with what was typed. The tab keeps the form
// while the sign-in or an error is shown. Any other page that follows a form has its answer, and drops it. A browser that
// goes back, or loads a page again, has had no answer: the server was gone. Other organizations do not get the form.
const KEPT = "contentsvc-form";
const BOXES = ["checkbox", "radio"];

function keep(form) {
  const fields = [...form.elements]
    .filter((field) => field.name && !["csrf", "once"].includes(field.name) && !["password", "file", "submit"].includes(field.type))
    .map(({ name, type, value, checked }) => ({ name, type, value, checked }));
  if (form.method !== "post" || !fields.some((field) => field.type !== "hidden")) {
    return;
  }
  const kept = { action: form.getAttribute("action"), fields, tenant: tenant() };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // The browser has no room for it.
  }
}

function tenant() {
  return document.querySelector(".tenant")?.title;
}

function isRevisited() {
  return performance.getEntriesByType("navigation")[0]?.type !== "navigate";
}

function giveBack(form, fields) {
  const given = [];
  for (const field of form.elements) {
    const at = fields.findIndex(
      ({ name, value }) => name === field.name && (!BOXES.includes(field.type) || value === field.value),
    );
    if (at < 0) {
      continue;
    }
    const [{ value, checked }] = fields.splice(at, 1);
    if (BOXES.includes(field.type)) {
      field.checked = checked;
    } else {
      field.value = value;
    }
    given.push(field);
  }
  for (const field of given.filter(isChanged)) {
    for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      fold.open = true;
    }
    // The scripts of the previews have read the page by then.
    document.addEventListener("DOMContentLoaded", () => {
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
  form.dataset.guard = "unsaved";
  say("What you typed is back in the form. It is not saved yet.");
}

function say(text, kind = "notice") {
  const notice = document.createElement("p");
  notice.className = kind;
  notice.tabIndex = -1;
  notice.setAttribute("role", "status");
  notice.textContent = text;
  const title = document.querySelector("main h1");
  (title?.closest(".head") || title)?.after(notice);
}

function resume() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT));
  if (!kept) {
    return;
  }
  const form = [...document.forms].find((each) => each.method === "post" && each.getAttribute("action") === kept.action);
  const isOurs = kept.tenant === tenant();
  if (document.querySelector("main [data-keeps]") || (isRevisited() && isOurs && !form)) {
    sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, isDue: true }));
    say("What you typed is kept in this tab, and comes back in its form.");
    return;
  }
  if ((kept.isDue || isRevisited()) && form && isOurs) {
    giveBack(form, kept.fields);
  }
  if (form || !kept.isDue || !isOurs) {
    sessionStorage.removeItem(KEPT);
  }
}

document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("action")?.endsWith("/sign-out")) {
    sessionStorage.removeItem(KEPT);
  } else if (!event.defaultPrevented) {
    keep(event.target);
  }
});

// A preview or a live list meets the end of the session first, and the whole page goes to the sign-in.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.status !== 401) {
    return;
  }
  saving = event.detail.elt.closest("form") || [...document.querySelectorAll("form[method=post]")].find(isUnsaved);
  if (saving) {
    keep(saving);
  }
});

// A preview or a live page that is not renewed says that it is an old one, until the next answer.
function showStale(event) {
  const { target, xhr } = event.detail;
  const isPreview = target.matches("#preview, #style-preview");
  // A live page shows the reason of a refusal already.
  if ((isPreview ? target : document).querySelector(".stale") || (!isPreview && xhr.status && xhr.status < 500)) {
    return;
  }
  if (isPreview) {
    const stale = document.createElement("p");
    stale.className = "note stale";
    stale.textContent = "This preview is not up to date: the server did not answer. It tries again when you type on.";
    target.prepend(stale);
  } else {
    say("This page is not up to date: the server does not answer. It tries again by itself.", "note stale");
  }
}

document.addEventListener("htmx:responseError", showStale);
document.addEventListener("htmx:sendError", showStale);
document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.xhr.status < 400) {
    document.querySelector(":not(#preview, #style-preview) > .stale")?.remove();
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

resume();

// After an action, the keyboard goes on at the first field at fault, else at the notice instead of at the navigation. Of
// an address with a place, the browser focuses the place.
const faulty = document.querySelector('main [aria-invalid="true"], main .at-fault :is(input, select, textarea)');
(faulty || document.querySelector(location.hash ? ":target" : "main > .notice"))?.focus();

// The notice is about the action before: a page that is loaded again, or kept as a bookmark, does not repeat it.
const here = new URL(location.href);
if (here.searchParams.has("notice")) {
  here.searchParams.delete("notice");
  history.replaceState(history.state, "", here);
}

complete(document);
document.addEventListener("htmx:load", (event) => complete(event.target));
