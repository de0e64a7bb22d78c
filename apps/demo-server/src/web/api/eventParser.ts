/** What chat completions send last, which is no JSON. */
const DONE = "[DONE]"

/**
 * Takes server-sent events in whatever pieces they arrive, and gives the decoded data of each whole one. Whether the last
 * of a chat completion has come is what taking a piece gives back.
 */
export const eventParser = <E>(onEvent: (event: E) => void): ((piece: string) => boolean) => {
  let rest = ""
  let done = false
  return (piece) => {
    const events = (rest + piece).replaceAll("\r\n", "\n").split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n")
      if (data === DONE) done = true
      else if (data !== "") onEvent(JSON.parse(data) as E)
    }
    return done
  }
}
