/** Values as TypeScript source. */

/** Longer lines are broken. */
const WIDTH = 76

const NAME = /^[A-Za-z_$][\w$]*$/

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")

/** A value as a TypeScript literal. Undefined properties are left out. */
export const literal = (value: unknown, indent = 0): string => {
  if (typeof value === "string") return quoted(value)
  if (typeof value !== "object" || value === null) return String(value)
  const isList = Array.isArray(value)
  const parts = (inner: number) =>
    isList
      ? value.map((each) => literal(each, inner))
      : Object.entries(value)
          .filter(([, each]) => each !== undefined)
          .map(([name, each]) => `${NAME.test(name) ? name : quoted(name)}: ${literal(each, inner)}`)
  const flat = parts(0)
  if (flat.length === 0) return isList ? "[]" : "{}"
  const line = isList ? `[${flat.join(", ")}]` : `{ ${flat.join(", ")} }`
  if (indent + line.length <= WIDTH && !line.includes("\n")) return line
  const space = " ".repeat(indent + 2)
  const [open, close] = isList ? ["[", "]"] : ["{", "}"]
  return `${open}\n${parts(indent + 2)
    .map((part) => space + part)
    .join(",\n")}\n${" ".repeat(indent)}${close}`
}
