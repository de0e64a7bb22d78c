/** What a stream of server-sent events ends with that does not end as it should. */

/** As bytes. The blank line before it ends an event that was cut. */
export const lastEvent = (data: object): Uint8Array =>
  new TextEncoder().encode(`\n\ndata: ${JSON.stringify(data)}\n\n`)
