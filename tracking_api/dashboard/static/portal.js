// Sharing a link with the phone's own sheet, where it has one.
for (const button of document.querySelectorAll("[data-share]")) {
  button.hidden = !navigator.share;
  button.addEventListener("click", () => navigator.share({ url: button.dataset.share }).catch(() => {}));
}
