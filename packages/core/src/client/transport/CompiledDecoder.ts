/** Decodes valid values without the interpreter of `Schema`, which takes several times as long. */
import { Effect, Exit, Function, Option, Schema, type SchemaAST } from "effect"
import { SchemaCompiler } from "effect/schema"

/** What a node returns for a value that it does not accept, and an absent field. */
const { invalid: INVALID, missing: MISSING } = SchemaCompiler

type Decode = (value: unknown) => unknown

const options: SchemaAST.ParseOptions = {}

/**
 * A decoder of a schema.
 *
 * **Details.** Functions made from the schema's AST accept the values that are right: primitives, lists, structs, records of
 * texts, unions, declarations, checks and pure transformations. `Schema` decides about all others, and says what is wrong.
 *
 * **Gotchas.** An object or a list of which nothing changes is not copied.
 */
export const compileDecoder = <S extends Schema.Constraint>(
  schema: S
): ((value: unknown) => Effect.Effect<S["Type"], Schema.SchemaError, S["DecodingServices"]>) => {
  const decodeAny = Schema.decodeUnknownEffect(schema)
  const decode = compile(schema.ast)
  if (decode === null) return decodeAny
  return (value) => {
    let decoded: unknown = INVALID
    try {
      decoded = decode(value)
    } catch {
      // Decided by `Schema`.
    }
    return decoded === INVALID || decoded === MISSING ? decodeAny(value) : Effect.succeed(decoded)
  }
}

/** An encoder of a schema: see `compileDecoder`. */
export const compileEncoder = <S extends Schema.Top>(
  schema: S
): ((value: unknown) => Effect.Effect<S["Encoded"], Schema.SchemaError, S["EncodingServices"]>) =>
  compileDecoder(Schema.flip(schema))

/** Each node once: schemas share theirs. Null for one that only `Schema` decodes. */
const compile = Function.memoize((ast: SchemaAST.AST) => compileNode(ast) ?? null)

const compileAll = (asts: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<Decode> | undefined => {
  const all = asts.map(compile).filter((decode) => decode !== null)
  return all.length === asts.length ? all : undefined
}

/** Decodes what is encoded, last link first, then the node itself. */
const compileNode = (ast: SchemaAST.AST): Decode | undefined => {
  const checks = flatten(ast.checks ?? [])
  const type = compileType(ast)
  if (type === undefined) return undefined
  const sourceChecks = flatten(("encodingChecks" in ast && ast.encodingChecks) || [])
  const passes = (all: typeof checks, value: unknown) => {
    for (let at = 0; at < all.length; at++) if (all[at]?.run(value, ast, options) !== undefined) return false
    return true
  }
  const local: Decode = (value) => {
    const decoded = type(value)
    if (decoded === MISSING || decoded === INVALID || value === MISSING) return decoded
    return passes(sourceChecks, value) && passes(checks, decoded) ? decoded : INVALID
  }
  if (ast.encoding === undefined) return checks.length + sourceChecks.length === 0 ? type : local
  const sources = compileAll(ast.encoding.map(({ to }) => to))
  const transforms = ast.encoding.map(compileTransformation).filter((transform) => transform !== undefined)
  if (sources === undefined || transforms.length < sources.length) return undefined
  const steps = [...sources.flatMap((source, at) => [transforms[at] as Decode, source]).toReversed(), local]
  const run: Decode = (value) => {
    let current = value
    for (let at = 0; at < steps.length; at++) {
      current = (steps[at] as Decode)(current)
      if (current === INVALID) return INVALID
    }
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

const compileDeclaration = (ast: SchemaAST.Declaration): Decode | undefined => {
  if (ast.typeParameters.length > 0) return undefined
  const run = ast.run([])
  return (value) => {
    if (value === MISSING) return MISSING
    const exit = run(value, ast, options)
    if (!Exit.isExit(exit) || Exit.isFailure(exit)) return INVALID
    // Effect's exit of an unchanged value has none.
    return exit.value === MISSING ? value : exit.value
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
  if (!decode || elements.length > 0 || rest.length > 1) return undefined
  return (value) => {
    if (!Array.isArray(value)) return value === MISSING ? MISSING : INVALID
    let copy: Array<unknown> | undefined
    for (let at = 0; at < value.length; at++) {
      const decoded = decode(value[at])
      if (decoded === INVALID || decoded === MISSING) return INVALID
      if (decoded !== value[at]) (copy ??= [...value])[at] = decoded
    }
    return copy ?? value
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const compileTextRecord = ({ parameter, type }: SchemaAST.IndexSignature): Decode | undefined => {
  const decode = compile(type)
  const isText = parameter._tag === "String" && parameter.checks === undefined
  if (decode === null || !isText || parameter.encoding !== undefined) return undefined
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

interface Field {
  readonly decode: Decode
  readonly isOptional: boolean
}

const compileObject = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Decode | undefined => {
  const [index] = indexSignatures
  if (index !== undefined) {
    const isPlain = indexSignatures.length === 1 && propertySignatures.length === 0
    return isPlain ? compileTextRecord(index) : undefined
  }
  const fields = new Map<unknown, Field>()
  let required = 0
  for (const { name, type } of propertySignatures) {
    const decode = compile(type)
    const isOptional = type.context?.isOptional === true
    const isDefault = decode !== null && ![MISSING, INVALID].some((one) => one === decode(MISSING))
    if (decode === null || isDefault || name === "__proto__") return undefined
    if (!isOptional) required++
    fields.set(name, { decode, isOptional })
  }
  if (fields.size === 0) return undefined
  return (value) => {
    if (!isRecord(value)) return value === MISSING ? MISSING : INVALID
    // Most objects are as they should be: those are not copied.
    let copy: Record<string, unknown> | undefined
    let found = 0
    for (const name in value) {
      const field = fields.get(name)
      const given = value[name]
      const decoded = field === undefined ? MISSING : field.decode(given)
      if (decoded === INVALID) return INVALID
      if (decoded === MISSING) delete (copy ??= { ...value })[name]
      else if (decoded !== given) (copy ??= { ...value })[name] = decoded
      if (decoded !== MISSING && field?.isOptional === false) found++
    }
    return found === required ? (copy ?? value) : INVALID
  }
}

const COMPILERS: {
  readonly [Tag in SchemaAST.AST["_tag"]]?: (
    ast: Extract<SchemaAST.AST, { readonly _tag: Tag }>
  ) => Decode | undefined
} = {
  String: () => primitive("string"),
  Number: () => primitive("number"),
  Boolean: () => primitive("boolean"),
  Null: () => same(null),
  Undefined: () => same(undefined),
  Literal: ({ literal }) => same(literal),
  Unknown: () => (value) => value,
  Declaration: compileDeclaration,
  Union: compileUnion,
  Arrays: compileList,
  Objects: compileObject
}

const compileType = <Tag extends SchemaAST.AST["_tag"]>(
  ast: Extract<SchemaAST.AST, { readonly _tag: Tag }>
): Decode | undefined => COMPILERS[ast._tag as Tag]?.(ast)
