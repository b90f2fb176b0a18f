// The API key of a service that asks for one: in this tab only, never in an address.

import { byId } from "./dom.js";

const NAME = "sandbox-service-key";

export function authorization() {
  const key = sessionStorage.getItem(NAME);
  return key ? { Authorization: `Bearer ${key}` } : {};
}

export function hasKey() {
  return sessionStorage.getItem(NAME) !== null;
}

export function forgetKey() {
  sessionStorage.removeItem(NAME);
}

// Keys are visible ASCII; anything else would make fetch refuse the header.
const USABLE = /^[\x21-\x7e]+$/;

export function askForKey(reason, onKey) {
  const dialog = byId("key");
  const form = byId("key-form");
  byId("key-reason").textContent = `${reason} It is kept until this tab is closed.`;
  form.onsubmit = (submitted) => {
    submitted.preventDefault();
    const key = form.elements.key.value.trim();
    if (!USABLE.test(key)) return;
    sessionStorage.setItem(NAME, key);
    form.reset();
    dialog.close();
    onKey();
  };
  if (!dialog.open) dialog.showModal();
}
