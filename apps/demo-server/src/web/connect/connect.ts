/** The vendors that this server is connected to, and the trial of another one. */
import { signal } from "@preact/signals"
import type {
  ConnectionRequest,
  Connections,
  ConnectionTrial,
  OfferedModel
} from "../../contract/Connections.ts"
import { type RequestError, requestData } from "../api/request.ts"
import { makeChanges, tryRequest } from "../page/calls.ts"
import { whileShown } from "../page/session.ts"
import { refreshStatus } from "../page/status.ts"
import { announce } from "../ui/Notices.tsx"

const PATH = "/api/connections"

export const connections = signal<Connections>()
export const connectionsError = signal<RequestError>()

/** What the vendor in the form has answered. */
export const trial = signal<ConnectionTrial>()

const refresh = (): Promise<unknown> =>
  tryRequest(connectionsError, async () => {
    connections.value = await requestData<Connections>("GET", PATH)
  })

export const connectionChanges = makeChanges(() => Promise.all([refresh(), refreshStatus()]))

/** `chat NAME`, one per line. The server refuses what is no operation. */
export const parseModels = (text: string): ReadonlyArray<OfferedModel> =>
  text
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([operation]) => operation !== "")
    .map(([operation, id = ""]) => ({ operation: operation as OfferedModel["operation"], id }))

export const sendTrial = (body: ConnectionRequest): Promise<boolean> =>
  tryRequest(connectionChanges.error, async () => {
    trial.value = undefined
    trial.value = await requestData<ConnectionTrial>("POST", `${PATH}/try`, body)
    const { tries } = trial.value
    announce(`${tries.filter(({ ok }) => ok).length} of ${tries.length} calls succeeded.`)
  })

export const saveVendor = (body: ConnectionRequest): Promise<boolean> =>
  connectionChanges.send(async () => {
    await requestData("PUT", PATH, body)
    trial.value = undefined
    return `${body.id ?? body.vendor} is connected.`
  })

export const removeVendor = (id: string): Promise<boolean> =>
  connectionChanges.sendRequest(`${id} was removed.`, "DELETE", `${PATH}/${encodeURIComponent(id)}`)

export const clearTrial = () => {
  connectionChanges.clear()
  trial.value = undefined
}

whileShown(["connect"], refresh, clearTrial)
