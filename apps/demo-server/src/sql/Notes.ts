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
  /** Whether the last line is without its end, on a disk that is full. */
  let isTorn = false
  const clear = () => {
    if (isEmpty || file === undefined) return
    try {
      ftruncateSync(file)
      isEmpty = true
      isTorn = false
    } catch {
      // What they say is done already: they are cleared with the next ones.
    }
  }
  return {
    write: (lines) => {
      try {
        file ??= openSync(pathOf(database), "a", MODE)
        isEmpty = false
        const text = `${isTorn ? "\n" : ""}${lines.join("\n")}\n`
        isTorn = true
        isTorn = writeSync(file, text) < Buffer.byteLength(text)
        return !isTorn
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
