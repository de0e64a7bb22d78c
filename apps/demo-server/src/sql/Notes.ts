/**
 * Lines beside a database's file: what the transaction that is open has changed, for whoever opens the file after a
 * process that was killed.
 *
 * A line is one write of some hundred bytes. A commit writes pages, and costs ten times as much (docs/decisions/0014).
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"

/** Beside `accounts.db`. */
const pathOf = (database: string) => `${database}-noted`

/** Only their owner reads them, as the database. */
const MODE = 0o600

export interface Notes {
  /** Whether they outlast the process now. */
  readonly write: (lines: ReadonlyArray<string>) => boolean
  /** What they say is committed. */
  readonly clear: () => void
  readonly close: () => void
}

export const makeNotes = (database: string): Notes => {
  let file: number | undefined
  let isEmpty = true
  const clear = () => {
    if (isEmpty || file === undefined) return
    ftruncateSync(file)
    isEmpty = true
  }
  return {
    write: (lines) => {
      try {
        file ??= openSync(pathOf(database), "a", MODE)
        isEmpty = false
        const text = `${lines.join("\n")}\n`
        return writeSync(file, text) === Buffer.byteLength(text)
      } catch {
        return false
      }
    },
    clear,
    close: () => {
      if (file === undefined) return
      closeSync(file)
      file = undefined
      if (isEmpty) removeNotes(database)
    }
  }
}

/** Those that a process which was killed has left. */
export const notesOf = (database: string): ReadonlyArray<string> =>
  existsSync(pathOf(database)) ? readFileSync(pathOf(database), "utf8").split("\n") : []

export const removeNotes = (database: string): void => rmSync(pathOf(database), { force: true })
