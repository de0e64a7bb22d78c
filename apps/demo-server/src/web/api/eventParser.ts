/** What chat completions send last, which is no JSON. */
const DONE = "[DONE]"

/** Takes server-sent events in whatever pieces they arrive, and gives the decoded data of each whole one. */
export const eventParser = <E>(onEvent: (event: E) => void): ((piece: string) => void) => {
  let rest = ""
  return (piece) => {
    const events = (rest + piece).replaceAll("\r\n", "\n").split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n")
      if (data !== "" && data !== DONE) onEvent(JSON.parse(data) as E)
    }
  }
}
