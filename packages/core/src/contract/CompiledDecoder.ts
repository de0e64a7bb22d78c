/** Decodes valid values without the interpreter of `Schema`, which takes several times as long. */
import { Exit, Option, type Schema, type SchemaAST } from "effect"

/** What a compiled decoder returns for a value that it does not accept. */
export const INVALID = Symbol("invalid")

/** An absent field. */
const MISSING = Symbol("missing")

type Decode = (value: unknown) => unknown

const options: SchemaAST.ParseOptions = {}

/**
 * A function that returns the decoded value, or `INVALID`. Then `Schema` decides, and says what is wrong.
 *
 * **Details.** It follows the schema's AST: literals and primitives, lists, structs, records of texts, unions, declarations,
 * checks and pure transformations. Undefined for a schema with anything else.
 */
export const compileDecoder = <S extends Schema.Constraint>(
  schema: S
): ((value: unknown) => S["Type"] | typeof INVALID) | undefined => {
  const decode = compile(schema.ast)
  if (decode === undefined) return undefined
  return (value) => {
    try {
      const decoded = decode(value)
      return decoded === MISSING ? INVALID : decoded
    } catch {
      return INVALID
    }
  }
}

/** Each node once: schemas share theirs. */
const compiled = new WeakMap<SchemaAST.AST, Decode | null>()

const compile = (ast: SchemaAST.AST): Decode | undefined => {
  const known = compiled.get(ast)
  if (known !== undefined) return known ?? undefined
  const decode = compileNode(ast)
  compiled.set(ast, decode ?? null)
  return decode
}

const compileAll = (asts: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<Decode> | undefined => {
  const all = asts.map(compile).filter((decode) => decode !== undefined)
  return all.length === asts.length ? all : undefined
}

/** Decodes what is encoded, last link first, then the node itself. */
const compileNode = (ast: SchemaAST.AST): Decode | undefined => {
  const checks = flatten(ast.checks ?? [])
  const type = compileType(ast)
  if (type === undefined || ("encodingChecks" in ast && ast.encodingChecks !== undefined)) return undefined
  const local: Decode = (value) => {
    if (value === MISSING) return MISSING
    const decoded = type(value)
    if (decoded === INVALID) return INVALID
    for (const check of checks) if (check.run(decoded, ast, options) !== undefined) return INVALID
    return decoded
  }
  if (ast.encoding === undefined) return checks.length === 0 ? type : local
  const sources = compileAll(ast.encoding.map(({ to }) => to))
  const transforms = ast.encoding.map(compileTransformation).filter((transform) => transform !== undefined)
  if (sources === undefined || transforms.length < sources.length) return undefined
  const steps = [...sources.flatMap((source, at) => [transforms[at] as Decode, source]).toReversed(), local]
  const run: Decode = (value) => {
    let current = value
    for (const step of steps) if ((current = step(current)) === INVALID) return INVALID
    return current
  }
  const absent = run(MISSING)
  return (value) => (value === MISSING ? absent : run(value))
}

const flatten = (checks: ReadonlyArray<SchemaAST.Check<unknown>>): ReadonlyArray<SchemaAST.Filter<unknown>> =>
  checks.flatMap((check) => (check._tag === "FilterGroup" ? flatten(check.checks) : [check]))

const compileTransformation = ({ transformation }: SchemaAST.Link): Decode | undefined => {
  if (transformation._tag === "Middleware") return undefined
  const getter = transformation.decode
  switch (getter._tag) {
    case "Passthrough":
      return (value) => value
    case "Transform":
      return (value) => (value === MISSING ? MISSING : getter.transform(value))
    case "TransformOptional":
      return (value) => {
        const decoded = getter.transform(value === MISSING ? Option.none() : Option.some(value))
        return Option.isNone(decoded) ? MISSING : decoded.value
      }
    default:
      return undefined
  }
}

const primitive =
  (name: "string" | "number" | "boolean"): Decode =>
  (value) =>
    typeof value === name || value === MISSING ? value : INVALID

const same =
  (expected: unknown): Decode =>
  (value) =>
    value === expected || value === MISSING ? value : INVALID

const compileType = (ast: SchemaAST.AST): Decode | undefined => {
  switch (ast._tag) {
    case "String":
      return primitive("string")
    case "Number":
      return primitive("number")
    case "Boolean":
      return primitive("boolean")
    case "Null":
      return same(null)
    case "Undefined":
      return same(undefined)
    case "Literal":
      return same(ast.literal)
    case "Unknown":
      return (value) => value
    case "Declaration":
      return compileDeclaration(ast)
    case "Union":
      return compileUnion(ast)
    case "Arrays":
      return compileList(ast)
    case "Objects":
      return compileObject(ast)
    default:
      return undefined
  }
}

const compileDeclaration = (ast: SchemaAST.Declaration): Decode | undefined => {
  if (ast.typeParameters.length > 0) return undefined
  const run = ast.run([])
  return (value) => {
    if (value === MISSING) return MISSING
    const exit = run(value, ast, options)
    return Exit.isExit(exit) && Exit.isSuccess(exit) ? exit.value : INVALID
  }
}

const compileUnion = ({ options, types }: SchemaAST.Union): Decode | undefined => {
  const members = compileAll(types)
  if (members === undefined || options?.mode === "oneOf") return undefined
  return (value) => {
    if (value === MISSING) return MISSING
    for (const decode of members) {
      const decoded = decode(value)
      if (decoded !== INVALID) return decoded
    }
    return INVALID
  }
}

const compileList = ({ elements, rest }: SchemaAST.Arrays): Decode | undefined => {
  const [element] = rest
  const decode = element && compile(element)
  if (decode === undefined || elements.length > 0 || rest.length > 1) return undefined
  return (value) => {
    if (!Array.isArray(value)) return value === MISSING ? MISSING : INVALID
    const list: Array<unknown> = []
    for (const item of value) {
      const decoded = decode(item)
      if (decoded === INVALID || decoded === MISSING) return INVALID
      list.push(decoded)
    }
    return list
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const compileTextRecord = ({ parameter, type }: SchemaAST.IndexSignature): Decode | undefined => {
  const decode = compile(type)
  const isText = parameter._tag === "String" && parameter.checks === undefined
  if (decode === undefined || !isText || parameter.encoding !== undefined) return undefined
  return (value) => {
    if (!isRecord(value)) return value === MISSING ? MISSING : INVALID
    const entries: Array<readonly [string, unknown]> = []
    for (const name of Object.keys(value)) {
      const decoded = decode(value[name])
      if (decoded === INVALID || decoded === MISSING) return INVALID
      entries.push([name, decoded])
    }
    // An assignment would take a field `__proto__` for the prototype.
    return Object.fromEntries(entries)
  }
}

const compileObject = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Decode | undefined => {
  const [index] = indexSignatures
  if (index !== undefined) {
    const isPlain = indexSignatures.length === 1 && propertySignatures.length === 0
    return isPlain ? compileTextRecord(index) : undefined
  }
  const decoders = compileAll(propertySignatures.map(({ type }) => type))
  if (decoders === undefined) return undefined
  const fields = propertySignatures.map(({ name, type }, at) => ({
    name: name as string,
    isOptional: type.context?.isOptional === true,
    decode: decoders[at] as Decode
  }))
  if (fields.length === 0 || fields.some(({ name }) => typeof name !== "string" || name === "__proto__")) {
    return undefined
  }
  return (value) => {
    if (!isRecord(value)) return value === MISSING ? MISSING : INVALID
    const object: Record<string, unknown> = {}
    for (const { decode, isOptional, name } of fields) {
      const decoded = decode(name in value ? value[name] : MISSING)
      if (decoded === INVALID) return INVALID
      if (decoded !== MISSING) object[name] = decoded
      else if (!isOptional) return INVALID
    }
    return object
  }
}
