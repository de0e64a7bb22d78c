/** Local models: the sets, the download, and model servers on the server's machine. */
import { computed, effect, signal } from "@preact/signals"
import type { LocalModels, LocalModelServers } from "../../contract/LocalModels.ts"
import { type RequestError, requestData } from "../api/request.ts"
import { makeChanges, tryRequest } from "../page/calls.ts"
import { whileShown } from "../page/session.ts"
import { refreshStatus } from "../page/status.ts"
import { saveVendor } from "./connect.ts"

const PATH = "/api/local-models"
const POLL_MS = 500

export const localModels = signal<LocalModels>()
export const localModelsError = signal<RequestError>()

/** Programs that run on the server's machine. They are only shown. */
export const localServers = signal<LocalModelServers["servers"]>([])

const refresh = (): Promise<unknown> =>
  tryRequest(localModelsError, async () => {
    localModels.value = await requestData<LocalModels>("GET", PATH)
  })

export const localModelChanges = makeChanges(() => Promise.all([refresh(), refreshStatus()]))

const isDownloading = computed(() => localModels.value?.download?.state === "running")
const isShown = signal(false)

effect(() => {
  if (!isDownloading.value || !isShown.value) return
  const timer = setInterval(refresh, POLL_MS)
  return () => clearInterval(timer)
})

const change = (method: string, path: string, body: unknown, message: string): Promise<boolean> =>
  localModelChanges.send(async () => {
    localModels.value = await requestData<LocalModels>(method, path, body)
    return message
  })

export const downloadSet = (set: string): Promise<boolean> =>
  change("POST", `${PATH}/download`, { set }, `${set} is being downloaded.`)

export const cancelDownload = (): Promise<boolean> =>
  change("DELETE", `${PATH}/download`, undefined, "The download was stopped.")

/** `null` goes back to the demo models. */
export const switchTo = (set: string | null): Promise<boolean> =>
  change("PUT", PATH, { set }, set === null ? "The demo models are used." : `${set} is used.`)

type LocalServer = LocalModelServers["servers"][number]

/** The models of a server that the library would use. */
export const modelsToUse = ({ models }: LocalServer) => ({
  embedding: models.find(({ operation }) => operation === "embeddings")?.id,
  chat: models.find(({ operation }) => operation === "chat")?.id
})

export const connectServer = (server: LocalServer): Promise<boolean> => {
  const { chat, embedding } = modelsToUse(server)
  return saveVendor({
    vendor: "gateway",
    id: server.name.toLowerCase().replaceAll(/[^a-z]+/g, "-"),
    url: server.url,
    models: server.models,
    library: { ...(embedding !== undefined && { embedding }), ...(chat !== undefined && { chat }) }
  })
}

const load = () => {
  isShown.value = true
  void refresh()
  // Nothing depends on it.
  requestData<LocalModelServers>("GET", `${PATH}/servers`).then(
    ({ servers }) => (localServers.value = servers),
    () => {}
  )
}

whileShown(["connect"], load, () => {
  isShown.value = false
  localModelChanges.clear()
})
