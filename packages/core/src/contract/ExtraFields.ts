/** Fields that a call sends beside those of the interface. */
import type { Extra, open } from "./Open.ts"
import { InvalidRequest } from "./GatewayError.ts"

/** Why `extra` is not sent: it has a field that the request has already. */
export const refusedExtra = (
  extra: Extra | undefined,
  { from: request }: Pick<ReturnType<typeof open>, "from">
): InvalidRequest | undefined => {
  const named = extra && Object.keys(extra).find((name) => Object.hasOwn(request.schema.fields, name))
  if (named === undefined) return undefined
  const message = `\`${named}\` is not taken in \`extra\`: it has a field of its own, or is the client's to say.`
  return new InvalidRequest({ message, param: `extra.${named}` })
}
