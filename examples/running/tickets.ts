/** A table of tickets, as any database may have it. */
import { DatabaseSync } from "node:sqlite"

export const database = new DatabaseSync(":memory:")
database.exec("CREATE TABLE tickets (id TEXT PRIMARY KEY, text TEXT, changed TEXT)")
database.exec(
  "INSERT INTO tickets VALUES ('1', 'The lock opens at six.', 'May'), ('2', 'The ferry is late.', 'May')"
)
