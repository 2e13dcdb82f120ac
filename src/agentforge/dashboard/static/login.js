// Takes the token out of the address, changes it for a cookie, and goes on to the page that was asked for.
"use strict";

const trouble = document.getElementById("trouble");

async function enter(token) {
  const answer = await fetch("/login", { method: "POST", body: new URLSearchParams({ token }), redirect: "manual" });
  if (answer.type === "opaqueredirect" || answer.ok) {
    location.replace(location.pathname + location.search);
  } else {
    trouble.textContent = "This is not the token of the dashboard that runs here.";
  }
}

async function alreadyIn() {
  // A link from elsewhere comes without the cookie; the same request from this page brings it.
  const answer = await fetch("/", { method: "HEAD" });
  if (answer.ok && !sessionStorage.getItem("again")) {
    sessionStorage.setItem("again", "1");
    location.replace(location.href);
  }
}

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  history.replaceState(null, "", location.pathname + location.search);
  enter(given);
} else {
  alreadyIn();
}

document.getElementById("login").addEventListener("submit", (event) => {
  event.preventDefault();
  enter(new FormData(event.target).get("token"));
});
