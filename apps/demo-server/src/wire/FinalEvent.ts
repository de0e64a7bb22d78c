/** The event that ends a stream of server-sent events which fails. */

/** As bytes. The blank line before it closes an event that was cut. */
export const finalEvent = (data: object): Uint8Array =>
  new TextEncoder().encode(`\n\ndata: ${JSON.stringify(data)}\n\n`)
