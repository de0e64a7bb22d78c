/** The path of an uploaded document. The page shows it before the upload; the server computes the same. */

/** Converts a filename to a relative path with `/`, without `.`, `..`, a drive letter or control characters. */
export const documentPath = (filename: string): string =>
  filename
    .replaceAll("\\", "/")
    .replace(/^[A-Za-z]:/, "")
    // oxlint-disable-next-line no-control-regex -- removing them is the purpose
    .replaceAll(/[\u0000-\u001f\u007f]/g, "")
    .split("/")
    .filter((step) => step !== "" && step !== "." && step !== "..")
    .join("/")
