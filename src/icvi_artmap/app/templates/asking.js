"use strict";
// Asking the server. All addresses are relative: the token is in the address of the page.

class Refused extends Error {}

// An answer, or an error with the message that the server gives.
const answerTo = async (path, options = {}) => {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused("The server does not answer. Is icvi-artmap app still running?");
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Refused(told.message ?? `The server refuses (${answer.status}).`);
};
const ask = async (path) => (await answerTo(path)).json();
const tell = async (path, content = {}) =>
  (await answerTo(path, { method: "POST", body: JSON.stringify(content) })).json();
const send = async (path, file) => (await answerTo(path, { method: "PUT", body: file })).json();

// Save what is at an address under the name that the server gives it.
const save = async (path) => {
  const answer = await answerTo(path);
  const told = answer.headers.get("content-disposition") ?? "";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  const coded = /filename\*=utf-8''([^;]+)/i.exec(told);
  link.download = coded ? decodeURIComponent(coded[1]) : (/filename="([^"]*)"/.exec(told)?.[1] ?? "download");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return link.download;
};
