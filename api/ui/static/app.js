// What pages do beyond links and forms. Everything works without it: keys, times in the
// reader's zone, forms that keep the reader's place, views that go on by themselves.
"use strict";
(() => {
  const all = (sel, root = document) => Array.from(root.querySelectorAll(sel));
  const byId = (id) => document.getElementById(id);
  const stored = (name, value) => {
    try {
      if (value === undefined) return localStorage.getItem(name);
      localStorage.setItem(name, value);
    } catch { /* storage may be off */ }
    return null;
  };
  const say = (text) => { byId("live-region").textContent = text; };

  const root = document.documentElement;
  if (stored("theme")) root.dataset.theme = stored("theme");
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    stored("theme", root.dataset.theme);
  });

  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
  const localTimes = (part) => all("time", part).forEach((t) => {
    const at = new Date(t.dateTime);
    if (isNaN(at)) return;
    t.title = t.textContent;
    t.textContent = ("day" in t.dataset ? day : clock).format(at);
  });

  // Rows: j and k go from one to the next, the letters press the buttons of the one.
  let at = -1;
  const rows = () => all("main [data-row]");
  const go = (to) => {
    const list = rows();
    if (!list.length) return;
    all(".at").forEach((r) => r.classList.remove("at"));
    at = Math.max(0, Math.min(to, list.length - 1));
    list[at].classList.add("at");
    const first = list[at].querySelector("a, summary, button");
    if (first) first.focus({ preventScroll: true });
    list[at].scrollIntoView({ block: "nearest" });
  };
  const keysOn = byId("keys-on");
  keysOn.checked = stored("keys") !== "off";
  keysOn.addEventListener("change", () => stored("keys", keysOn.checked ? "on" : "off"));
  const dialog = byId("keys");
  byId("help").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (e) => {
    const typing = e.target.closest("input, textarea, select, dialog");
    if (typing || e.ctrlKey || e.metaKey || e.altKey || !keysOn.checked) return;
    const row = rows()[at] && rows()[at].contains(document.activeElement) ? rows()[at] : null;
    const press = (button) => { if (button) { e.preventDefault(); button.click(); } };
    switch (e.key) {
      case "j": e.preventDefault(); go(at + 1); break;
      case "k": e.preventDefault(); go(at - 1); break;
      case "g": case "p": case "f": case "y": case "n": press((row || byId("main")).querySelector((row ? "" : "form.correct.wide ") + `[data-key=${e.key}]`)); break;
      case "u": press(document.querySelector(".said button")); break;
      case "/": { const q = document.querySelector("input[type=search]"); if (q) { e.preventDefault(); q.focus(); q.select(); } break; }
      case "?": e.preventDefault(); dialog.showModal(); break;
    }
  });
  document.addEventListener("focusin", (e) => {
    const row = e.target.closest("main [data-row]");
    if (!row) return;
    all(".at").forEach((r) => r.classList.remove("at"));
    row.classList.add("at");
    at = rows().indexOf(row);
  });

  // Forms that post, and filters, put their answer into this page, where the reader
  // stays in place. An answer that is no page of ours is followed as usual.
  const show = (html, url, push) => {
    const next = new DOMParser().parseFromString(html, "text/html");
    const main = next.getElementById("main");
    if (!main) { location.assign(url); return; }
    const place = at, y = scrollY;
    byId("main").replaceWith(document.adoptNode(main));
    document.title = next.title;
    if (push) history.pushState(null, "", url); else history.replaceState(null, "", url);
    ready();
    scrollTo(0, push ? 0 : y);
    const said = document.querySelector(".said p");
    if (said) say(said.textContent);
    if (!push && place >= 0) go(place); else byId("main").focus({ preventScroll: true });
  };
  const send = async (url, options, push) => {
    try {
      const answer = await fetch(url, options);
      show(await answer.text(), answer.url, push);
    } catch {
      say("The server could not be reached.");
      again();
    }
  };
  document.addEventListener("submit", (e) => {
    const form = e.target, button = e.submitter;
    if (form.getAttribute("method") === "dialog" || e.defaultPrevented || form.matches("[data-leave]")) return;
    const data = new FormData(form, button);
    e.preventDefault();
    if (form.method === "get") {
      const query = new URLSearchParams();
      for (const [name, value] of data) if (value !== "") query.append(name, value);
      const url = form.getAttribute("action") + "?" + query;
      if (form.classList.contains("scope")) location.assign(url); else send(url, {}, true);
      return;
    }
    const body = form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
    send(form.action, { method: "POST", body }, false);
  });
  document.addEventListener("change", (e) => {
    if (e.target.matches("[data-submit]")) e.target.form.requestSubmit();
  });
  addEventListener("popstate", () => location.reload());
  document.addEventListener("click", async (e) => {
    const button = e.target.closest("[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(byId(button.dataset.copy));
    }
  });

  // A view that goes on asks for itself again, but not while nobody sees it, or the reader is
  // at something in it.
  const again = () => {
    const asks = document.querySelector("[data-reload]");
    if (!asks) return;
    setTimeout(() => {
      if (!asks.isConnected) return;
      const waits = document.hidden || ![document.body, byId("main")].includes(document.activeElement);
      if (waits) again(); else send(location.href, {}, false);
    }, asks.dataset.reload);
  };

  const ready = () => {
    at = -1;
    localTimes(byId("main"));
    again();
  };
  ready();
})();
