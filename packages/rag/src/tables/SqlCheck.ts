/** Which SQL may run, by the syntax tree that DuckDB makes of it, and the query for the rows that a result comes from. */

/** A node of the tree. */
type Node = { readonly [field: string]: unknown }

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))

const AGGREGATES = words(
  "sum count count_star count_if avg mean min max median mode first last any_value arg_max arg_min max_by min_by stddev stddev_samp stddev_pop variance var_samp var_pop quantile_cont quantile_disc bool_and bool_or corr"
)

/** None of them makes rows, reads anything outside, or makes a text longer than its arguments. */
const SCALARS = words(
  "+ - * / // % ** ^ ~~ !~~ ~~* !~~* like_escape not_like_escape abs round floor ceil ceiling trunc greatest least sign sqrt power pow ln log exp " +
    "year month day quarter week weekofyear dayofweek isodow dayofyear dayname monthname hour minute date_part datepart date_trunc datetrunc date_diff datediff date_sub datesub age strftime make_date last_day today current_date " +
    "lower upper trim ltrim rtrim length strlen contains starts_with ends_with prefix suffix substring substr left right nullif ifnull coalesce " +
    "row_number rank dense_rank percent_rank ntile lag lead first_value last_value nth_value"
)

const QUERIES = new Set(["SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE"])
const REFERENCES = new Set(["BASE_TABLE", "JOIN", "SUBQUERY", "EMPTY", "EXPRESSION_LIST", "CTE"])

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** All nodes of a tree. */
const nodesOf = (value: unknown): ReadonlyArray<Node> => {
  if (Array.isArray(value)) return value.flatMap(nodesOf)
  return isNode(value) ? [value, ...Object.values(value).flatMap(nodesOf)] : []
}

/** Why a node may not run. */
const faultOf = (node: Node, names: ReadonlySet<unknown>): string | undefined => {
  const { function_name: name, sample, table_name: table, type } = node
  if (typeof name === "string" && ![AGGREGATES, SCALARS].some((allowed) => allowed.has(name.toLowerCase())))
    return `The function ${name} is not allowed.`
  if (table !== undefined && !(names.has(table) && node["schema_name"] === "" && node["catalog_name"] === ""))
    return `There is no table ${JSON.stringify(table)}.`
  const isQuery = typeof type === "string" && type.endsWith("_NODE")
  const isAllowed = isQuery ? QUERIES.has(type) : sample === undefined || REFERENCES.has(String(type))
  return isAllowed ? undefined : "Only SELECT over the tables is allowed."
}

/** The base tables of a FROM, by the name that columns have before them. Undefined if it has others. */
const baseTables = (from: unknown, tables: ReadonlySet<unknown>): ReadonlyArray<SourceTable> | undefined => {
  if (!isNode(from)) return undefined
  if (from["type"] === "JOIN") {
    const [left, right] = [baseTables(from["left"], tables), baseTables(from["right"], tables)]
    return left && right && [...left, ...right]
  }
  const table = String(from["table_name"])
  if (from["type"] !== "BASE_TABLE" || !tables.has(table)) return undefined
  return [{ table, alias: String(from["alias"] || table) }]
}

interface SourceTable {
  readonly table: string
  readonly alias: string
}

/** The query for the rows of a result: the columns of the result that it repeats, then the number of a row of each table. */
export interface SourceQuery {
  /** As DuckDB reads it back. */
  readonly tree: string
  /** Its first columns, by their place in the result. Undefined: all. */
  readonly columns: ReadonlyArray<number> | undefined
  readonly tables: ReadonlyArray<string>
}

export interface CheckedSql {
  /** Why the SQL may not run. */
  readonly fault?: string
  /** Names of the tables that it uses. */
  readonly tables: ReadonlyArray<string>
  /** Absent if the rows come from subqueries. */
  readonly sources?: SourceQuery
}

/** The query without grouping, order and limit, with the columns that are no aggregates. */
const sourceQuery = (query: Node, known: Set<string>): SourceQuery | undefined => {
  const list = Array.isArray(query["select_list"]) ? (query["select_list"] as ReadonlyArray<unknown>) : []
  const defined = new Set(
    nodesOf(query["cte_map"]).flatMap(({ key }) => (typeof key === "string" ? [key] : []))
  )
  const from = baseTables(query["from_table"], known.difference(defined))
  if (query["type"] !== "SELECT_NODE" || from === undefined) return undefined
  const isAggregate = (expression: unknown) =>
    nodesOf(expression).some(
      ({ class: kind, function_name: name }) => kind === "FUNCTION" && AGGREGATES.has(String(name))
    )
  const plain = list.flatMap((expression, i) => (isAggregate(expression) ? [] : [i]))
  const hasStar = list.some((expression) => isNode(expression) && expression["class"] === "STAR")
  if (hasStar && plain.length < list.length) return undefined
  const numbers = from.map(({ alias }) => ({
    class: "COLUMN_REF",
    type: "COLUMN_REF",
    alias: "",
    query_location: 0,
    column_names: [alias, "rowid"]
  }))
  const node = {
    ...query,
    modifiers: [],
    select_list: [...plain.map((i) => list[i]), ...numbers],
    group_expressions: [],
    group_sets: [],
    having: null
  }
  return {
    tree: JSON.stringify({ error: false, statements: [{ node, named_param_map: [] }] }),
    columns: hasStar ? undefined : plain,
    tables: from.map(({ table }) => table)
  }
}

/** Checks what `json_serialize_sql` says of a query over tables of these names. */
export const checkSql = (serialized: string, known: Set<string>): CheckedSql => {
  // Places in the text may be larger than a number can hold.
  const tree: unknown = JSON.parse(serialized, (key, value: unknown) =>
    key === "query_location" ? 0 : value
  )
  const { error_message: message, statements } = isNode(tree) ? tree : {}
  const [statement, ...more] = Array.isArray(statements) ? (statements as ReadonlyArray<unknown>) : []
  const query = isNode(statement) ? statement["node"] : undefined
  if (!isNode(query) || more.length > 0) return { fault: String(message ?? "Write one SELECT."), tables: [] }
  const nodes = nodesOf(query)
  const defined = nodes.flatMap(({ key, value }) => (typeof key === "string" && isNode(value) ? [key] : []))
  const names = new Set<unknown>([...known, ...defined])
  const fault = nodes.map((node) => faultOf(node, names)).find((found) => found !== undefined)
  if (fault !== undefined) return { fault, tables: [] }
  const used = new Set(
    nodes.flatMap(({ table_name: name }) => (typeof name === "string" && known.has(name) ? [name] : []))
  )
  const sources = sourceQuery(query, known)
  return { tables: [...used], ...(sources !== undefined && { sources }) }
}
