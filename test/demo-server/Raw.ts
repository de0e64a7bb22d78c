/** Raw bytes to and from the server, for requests that no HTTP client sends. */
import { Effect } from "effect"
import { connect } from "node:net"

export interface Raw {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The first response in the received bytes. */
export const parseRaw = (text: string): Raw => {
  const [head = "", body = ""] = [
    text.slice(0, text.indexOf("\r\n\r\n")),
    text.slice(text.indexOf("\r\n\r\n") + 4)
  ]
  const [first = "", ...lines] = head.split("\r\n")
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(":")).toLowerCase(),
    line.slice(line.indexOf(":") + 1).trim()
  ])
  return { status: Number(first.split(" ")[1]), headers: Object.fromEntries(headers), body }
}

/** Sends the parts one after the other, then waits until the server closes the connection. */
export const sendRaw = (url: string, ...parts: ReadonlyArray<string | Uint8Array>) =>
  Effect.callback<Raw>((resume) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    // A server that rejects a body may reset the connection.
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(parseRaw(text))))
    const next = ([part, ...rest]: ReadonlyArray<string | Uint8Array>) => {
      if (part !== undefined) socket.write(part, (error) => (error ? undefined : next(rest)))
    }
    socket.on("connect", () => next(parts))
    return Effect.sync(() => socket.destroy())
  })

/** Sends an opening, then a few bytes every few milliseconds, until the server closes the connection. `drops` counts them. */
export const dripRaw = (url: string, opening: string, drop: string, everyMs: number) =>
  Effect.callback<Raw & { readonly drops: number }>((resume) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    let text = ""
    let drops = 0
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    socket.on("error", () => {})
    const dripping = setInterval(() => {
      drops += 1
      socket.write(drop)
    }, everyMs)
    socket.on("close", () => {
      clearInterval(dripping)
      resume(Effect.succeed({ ...parseRaw(text), drops }))
    })
    socket.on("connect", () => socket.write(opening))
    return Effect.sync(() => {
      clearInterval(dripping)
      socket.destroy()
    })
  })
