/** The reference gateway, which also refuses every request that the interface does not allow. */
import {
  type FakeGateway,
  grantsAccess,
  type Handler,
  handlers,
  refusedReply
} from "../../packages/core/src/testing/ReferenceGateway.ts"
import { faultOf } from "./requestFaults.ts"

export {
  ACCESS_TOKEN,
  API_KEY,
  type FakeGateway as Gateway,
  type Handler,
  isUsable,
  MODELS,
  type Opens,
  refusedReply as refuse,
  type Reply,
  type StoredToken as Token,
  type World
} from "../../packages/core/src/testing/ReferenceGateway.ts"

const checked = (call: string, handler: Handler): Handler => {
  return (request) => {
    const fault = faultOf(call, request.body)
    return fault === undefined ? handler(request) : refusedReply(400, `This request is not allowed: ${fault}`)
  }
}

export const referenceGateway: FakeGateway = {
  opens: grantsAccess,
  calls: Object.fromEntries(Object.entries(handlers).map(([call, handler]) => [call, checked(call, handler)]))
}

/** The response to a call. */
export const handlerOf = (call: string): Handler => {
  const handler = referenceGateway.calls[call]
  if (handler === undefined) throw new Error(`There is no ${call}`)
  return handler
}
