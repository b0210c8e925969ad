"use strict";
(() => {
  const own = document.currentScript, base = own.src.split("/widget.js")[0], key = "changelog " + base;
  const { label = "What's new", target } = own.dataset;
  // The widgets above each other stand in the order of their scripts, whichever loads first.
  const floating = [...document.querySelectorAll('script[src$="/widget.js"]:not([data-target])')].map(({ src }) => src);
  const below = new Set(floating.slice(0, Math.max(0, floating.indexOf(own.src)))).size;
  // The site may forbid storage: then all stays unread.
  const seen = (time) => {
    try {
      if (time) localStorage.setItem(key, time);
      return +localStorage.getItem(key);
    } catch { return 0; }
  };
  const make = (tag, text, ...within) => {
    const made = document.createElement(tag);
    made.textContent = text;
    made.append(...within);
    return made;
  };
  const link = (text, url) => Object.assign(make("a", text), { href: url, target: "_blank", rel: "noopener" });
  const start = async () => {
    const { title, home, style, posts } = await (await fetch(base + "/widget.json")).json();
    const host = make("div"), root = host.attachShadow({ mode: "open" });
    const count = make("span"), button = make("button", label, count);
    const day = (time) => new Date(time).toLocaleDateString(document.documentElement.lang || undefined, { dateStyle: "medium" });
    const items = posts.map((post) => make("li", "", make("time", day(post.at)), link(post.title, post.url)));
    const list = items[0] ? make("ul", "", ...items) : make("p", "Nothing has been published yet.");
    const panel = make("section", "", make("h2", title), list, link("All updates", home));
    const mark = () => {
      const unread = posts.filter((post) => post.published > seen()).length;
      count.textContent = unread || "";
      count.hidden = !unread;
      button.ariaLabel = unread ? `${label}, ${unread} unread` : label;
    };
    const show = (open) => {
      panel.hidden = !open;
      button.ariaExpanded = open;
      if (open) {
        seen(Math.max(1, ...posts.map((post) => post.published)));
        mark();
        // Not cut at the left.
        panel.style.translate = Math.max(0, 8 + panel.offsetWidth - host.getBoundingClientRect().right) + "px";
        panel.focus();
      }
    };
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    Object.assign(panel, { id: "panel", tabIndex: -1, ariaLabel: title });
    button.setAttribute("aria-controls", "panel");
    button.onclick = () => show(panel.hidden);
    host.onkeydown = (event) => {
      if (event.key == "Escape" && !panel.hidden) { show(false); button.focus(); }
    };
    document.addEventListener("click", (event) => event.composedPath().includes(host) || show(false));
    show(false);
    mark();
    root.append(button, panel);
    const place = target && document.querySelector(target);
    if (!place) {
      // Above others, and once.
      if (document.querySelector(`[data-changelog="${base}"]`)) return;
      host.style.setProperty("--below", below);
      host.dataset.changelog = base;
    }
    (place || document.body).append(host);
  };
  const quiet = () => start().catch(() => {});
  document.body ? quiet() : addEventListener("DOMContentLoaded", quiet);
})();
