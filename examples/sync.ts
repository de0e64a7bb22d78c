/** Keeps the rows of a table in a library. No gateway: `npx node --conditions=@sluice/source examples/sync.ts`. */
import * as Embedded from "@sluice/embedded"
import { Library, type SourceItem } from "@sluice/rag"
import { Console, Effect, Stream } from "effect"
import { run } from "./running/run.ts"
import { database } from "./running/tickets.ts"

const rows = Stream.suspend(() => Stream.fromIterable(database.prepare("SELECT * FROM tickets").all()))
const tickets = rows.pipe(
  Stream.map(({ changed, id, text }): SourceItem => {
    const read = Effect.sync(() => ({ text: String(text), url: `https://example.com/tickets/${id}` }))
    return { id: String(id), version: String(changed), read }
  })
)

const program = Effect.gen(function* () {
  const library = yield* Library.open("./tickets")
  yield* library.sync("tickets", tickets)
  database.exec("UPDATE tickets SET text = 'The lock opens at seven.', changed = 'June' WHERE id = '1'")
  database.exec("DELETE FROM tickets WHERE id = '2'")
  const { removed, replaced } = yield* library.sync("tickets", tickets)
  const { citations } = yield* library.ask("When does the lock open?")
  yield* Console.log(replaced, "replaced,", removed, "removed:", citations[0]?.quote, citations[0]?.url)
})

run(program.pipe(Effect.scoped, Effect.provide(Embedded.layer)))
// → 1 replaced, 1 removed: The lock opens at seven. https://example.com/tickets/1
