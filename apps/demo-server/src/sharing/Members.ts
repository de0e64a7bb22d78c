/** The members of collections: users, and groups of an identity provider. */
import { Failure } from "@sluice/core/contract"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Audit } from "../accounts/Audit.ts"
import type { MemberChange, MemberList } from "../contract/Collections.ts"
import { MemberAccess } from "../contract/Names.ts"
import { Integer } from "../sql/Integer.ts"
import { tableRows } from "../sql/Rows.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"

/** Users and groups of one collection at most. */
const MAX_MEMBERS = 200

const { first: firstAccess } = tableRows(Schema.Struct({ access: MemberAccess }))
const SharedCollection = Schema.Struct({
  owner_id: Schema.String,
  username: Schema.String,
  collection: Schema.String,
  access: MemberAccess
})
export type SharedCollection = typeof SharedCollection.Type
const { rows: sharedRows } = tableRows(SharedCollection)
const { rows: countRows } = tableRows(Schema.Struct({ collection: Schema.String, n: Integer }))
const { rows: memberRows } = tableRows(
  Schema.Struct({
    kind: Schema.Literals(["user", "group"]),
    name: Schema.String,
    access: MemberAccess
  })
)

const unknownUser = (name: string) =>
  new Failure({
    status: 404,
    message: `No user is named ${name}. Ask an administrator for the username`,
    code: "user_not_found",
    param: "members"
  })

const ownMember = new Failure({
  status: 400,
  message: "You own this collection, so you can't be one of its members",
  code: "invalid_value",
  param: "members"
})

const tooMany = new Failure({
  status: 409,
  message: `A collection has at most ${MAX_MEMBERS} members. Use groups, or remove some`,
  code: "too_many",
  param: "members"
})

export class Members extends Context.Service<Members>()("@sluice/demo-server/Members", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const audit = yield* Audit
    /** Memberships of a user, by name and by group. */
    const isOf = (user: string) => sql`((kind = 'user' AND member = ${user})
      OR (kind = 'group' AND member IN (SELECT name FROM user_groups WHERE user_id = ${user})))`

    const list = (owner: string, collection: string) =>
      Effect.map(
        memberRows(sql`SELECT kind, COALESCE(username, member) AS name, access FROM collection_members
          LEFT JOIN users ON kind = 'user' AND users.id = member
          WHERE owner_id = ${owner} AND collection = ${collection} ORDER BY kind DESC, name`),
        (rows): MemberList => ({
          members: rows.map(({ access, kind, name }) =>
            kind === "user" ? { user: name, access } : { group: name, access }
          )
        })
      )

    const changeOne = Effect.fnUntraced(function* (owner: string, collection: string, change: MemberChange) {
      const row = { owner_id: owner, collection, kind: "group", member: "", access: change.access }
      if ("group" in change) row.member = change.group
      else {
        const [user] = yield* sql<{
          readonly id: string
        }>`SELECT id FROM users WHERE username = ${change.user}`
        if (user === undefined) return yield* unknownUser(change.user)
        if (user.id === owner) return yield* ownMember
        Object.assign(row, { kind: "user", member: user.id })
      }
      yield* row.access === "none"
        ? sql`DELETE FROM collection_members WHERE owner_id = ${owner} AND collection = ${collection}
            AND kind = ${row.kind} AND member = ${row.member}`
        : sql`INSERT INTO collection_members ${sql.insert(row)}
            ON CONFLICT (owner_id, collection, kind, member) DO UPDATE SET access = excluded.access`
    })

    return {
      /** What a user may do in another's collection; undefined: nothing. */
      access: Effect.fn("Members.access")(function* (owner: string, collection: string, user: string) {
        const query = sql`SELECT access FROM collection_members
          WHERE owner_id = ${owner} AND collection = ${collection} AND ${isOf(user)} ORDER BY access DESC LIMIT 1`
        return (yield* catchSqlError(firstAccess(query)))?.access
      }),
      /** The collections that others share with a user. */
      shared: (user: string) =>
        catchSqlError(
          sharedRows(sql`SELECT owner_id, username, collection, MAX(access) AS access FROM collection_members
            JOIN users ON users.id = owner_id WHERE ${isOf(user)} AND owner_id <> ${user}
            GROUP BY owner_id, username, collection ORDER BY collection, username`)
        ),
      /** Members of each collection that a user shares. */
      counts: (owner: string) =>
        catchSqlError(
          Effect.map(
            countRows(sql`SELECT collection, COUNT(*) AS n FROM collection_members
              WHERE owner_id = ${owner} GROUP BY collection`),
            (rows) => new Map(rows.map(({ collection, n }) => [collection, n]))
          )
        ),
      list: (owner: string, collection: string) => catchSqlError(list(owner, collection)),
      /** All or nothing. */
      change: (owner: string, collection: string, changes: ReadonlyArray<MemberChange>) =>
        Effect.gen(function* () {
          // The row's lock: changes at the same time are counted one after the other.
          yield* sql`UPDATE users SET role = role WHERE id = ${owner}`
          for (const change of changes) yield* changeOne(owner, collection, change)
          const all = yield* list(owner, collection)
          return all.members.length > MAX_MEMBERS ? yield* tooMany : all
        }).pipe(
          (change: Effect.Effect<MemberList, Failure | SqlError.SqlError>) =>
            audit.record(change, () => ({
              action: "members.update",
              subject: collection,
              details: { members: changes }
            })),
          catchSqlError
        ),
      /** Removes all members of a collection that is removed or made anew. */
      clear: (owner: string, collection: string) =>
        catchSqlError(
          Effect.asVoid(
            sql`DELETE FROM collection_members WHERE owner_id = ${owner} AND collection = ${collection}`
          )
        )
    }
  })
}) {
  static readonly layer = Layer.effect(Members, Members.make)
}
