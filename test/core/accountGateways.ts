/** Gateways that keep an account, each in the manner of its family: behaviours of the loopback gateway. */
import { UNITS_PER_USD } from "@sluice/core"
import { type Behaviour, json, type Seen } from "./LoopbackGateway.ts"

export interface Row {
  readonly id: number
  readonly [field: string]: unknown
}

/** Tokens by their id, and whatever happened to the account. */
export class Store {
  readonly rows = new Map<number, Row>()
  last = 0

  constructor(count = 0, fields: object = {}) {
    for (let i = 0; i < count; i++) this.add({ name: `token ${i}`, ...fields })
  }

  add(fields: object): Row {
    const id = ++this.last
    const key = `${id}`.padStart(4, "0").repeat(12)
    const row = { status: 1, expired_time: -1, remain_quota: 0, subnet: "", ...fields, id, key }
    this.rows.set(id, row)
    return row
  }

  get newestFirst(): ReadonlyArray<Row> {
    return [...this.rows.values()].toReversed()
  }
}

const asked = ({ path }: Seen) => {
  const { pathname, searchParams } = new URL(path, "http://gateway")
  return { pathname, query: (name: string) => searchParams.get(name), id: Number(pathname.split("/")[3]) }
}

/** The fields of a request, whatever they are. */
const fieldsOf = ({ body }: Seen) => body as unknown as Row

const page = (rows: ReadonlyArray<Row>, number: number, size: number) =>
  rows.slice(number * size, (number + 1) * size)

const named = (rows: ReadonlyArray<Row>, start: string) =>
  rows.filter(({ name }) => String(name).startsWith(start))

const user = { username: "ada", quota: 3 * UNITS_PER_USD + 1, group: "vip", access_token: "", password: "" }

/** As the interface says: `{data}`, honest statuses, nothing in a body that is not shown. It changes what is given. */
export const plain =
  (store: Store): Behaviour =>
  (seen, response) => {
    const { rows } = store
    const { id, pathname, query } = asked(seen)
    const none = () =>
      json(response, { error: { message: `no token ${id}`, type: null, param: null, code: null } }, 404)
    const concealed = (row: Row): Row => ({ ...row, key: undefined })
    if (pathname === "/api/user/self") return json(response, { data: user })
    if (pathname === "/api/user/token") return json(response, { data: { token: "sat-plain" } })
    const all = [...rows.values()].map(concealed)
    if (pathname === "/api/token/search") {
      return json(response, { data: all.filter(({ name }) => String(name).includes(query("keyword") ?? "")) })
    }
    if (pathname === "/api/token/") {
      if (seen.method === "GET") {
        return json(response, { data: page(all, Number(query("p") ?? 0), Number(query("num") ?? 10)) })
      }
      if (seen.method === "POST") return json(response, { data: store.add(fieldsOf(seen)) })
      const row = rows.get(fieldsOf(seen).id)
      if (row === undefined) return none()
      rows.set(row.id, { ...row, ...fieldsOf(seen) })
      response.writeHead(204)
      return response.end()
    }
    const row = rows.get(id)
    if (row === undefined) return none()
    if (seen.method === "GET") return json(response, { data: concealed(row) })
    rows.delete(id)
    response.writeHead(204)
    response.end()
  }

const success = (data?: unknown) => ({ success: true, message: "", ...(data !== undefined && { data }) })
const refused = (message: string) => ({ success: false, message })

/** What these gateways take of an update that does not speak of the status alone: what is left out is emptied. */
const TAKEN = { name: "", expired_time: 0, remain_quota: 0, unlimited_quota: false, models: "", subnet: "" }

/**
 * In the manner of one-api: refusals with status 200, pages of ten from 0 on whatever is asked for, keys shown, updates
 * that empty what is left out, a status that is changed only with `status_only`.
 */
export const oneApi =
  (store: Store): Behaviour =>
  (seen, response) => {
    const { rows } = store
    const { id, pathname, query } = asked(seen)
    if (pathname === "/api/user/self") return json(response, success(user))
    if (pathname === "/api/user/token") return json(response, success("sat-one-api"))
    if (pathname === "/api/token/search") {
      return json(response, success(named(store.newestFirst, query("keyword") ?? "")))
    }
    if (pathname === "/api/token/") {
      if (seen.method === "GET")
        return json(response, success(page(store.newestFirst, Number(query("p") ?? 0), 10)))
      const { key: _, ...fields } = fieldsOf(seen)
      if (seen.method === "POST")
        return json(response, success(store.add({ unlimited_quota: false, models: "", ...fields })))
      const row = rows.get(fields.id)
      if (row === undefined) return json(response, refused("record not found"))
      const taken = Object.entries(TAKEN).map(([name, empty]) => [name, fields[name as never] ?? empty])
      const change = query("status_only") ? { status: fields["status"] } : Object.fromEntries(taken)
      rows.set(row.id, { ...row, ...change })
      return json(response, success(rows.get(row.id)))
    }
    const row = rows.get(id)
    if (row === undefined) return json(response, refused("record not found"))
    if (seen.method === "GET") return json(response, success(row))
    rows.delete(id)
    json(response, success())
  }

/** In the manner of new-api: as one-api, but pages with a total, counted from 1, masked keys, and a silent creation. */
export const newApi = (store: Store): Behaviour => {
  const inherited = oneApi(store)
  const masked = ({ key, ...row }: Row) => ({ ...row, key: `${String(key).slice(0, 4)}**********` })
  return (seen, response, nth) => {
    const { pathname, query } = asked(seen)
    const number = Math.max(1, Number(query("p") ?? 1))
    const size = Math.min(100, Number(query("size") ?? 10))
    const items = (rows: ReadonlyArray<Row>) =>
      success({
        page: number,
        page_size: size,
        total: rows.length,
        items: page(rows, number - 1, size).map(masked)
      })
    if (pathname === "/api/token/search") {
      return json(response, items(named(store.newestFirst, query("keyword") ?? "")))
    }
    if (pathname === "/api/token/" && seen.method === "GET") return json(response, items(store.newestFirst))
    if (pathname === "/api/token/" && seen.method === "POST") {
      store.add({ unlimited_quota: false, models: "", ...fieldsOf(seen) })
      return json(response, success())
    }
    inherited(seen, response, nth)
  }
}
