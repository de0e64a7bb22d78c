/** What a document that is sent is called: the page says so before, and the server has it so. */

/** The path that a filename stands for: relative, with `/`, without `.`, `..`, a drive or control characters. */
export const documentPath = (filename: string): string =>
  filename
    .replaceAll("\\", "/")
    .replace(/^[A-Za-z]:/, "")
    // oxlint-disable-next-line no-control-regex -- they are what is removed
    .replaceAll(/[\u0000-\u001f\u007f]/g, "")
    .split("/")
    .filter((step) => step !== "" && step !== "." && step !== "..")
    .join("/")
