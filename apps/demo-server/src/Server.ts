/** The server as one layer: the API, the page, and the services behind them. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { MalformedRequest } from "@sluice/core/contract"
import { Console, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SignIn } from "./accounts/SignIn.ts"
import { AccountsLayer } from "./database/Database.ts"
import { AdministrationLayer } from "./accounts/Administration.ts"
import { AuthLayer } from "./accounts/Auth.ts"
import { SessionLayer } from "./accounts/Session.ts"
import { banner } from "./Banner.ts"
import { ServerConfig } from "./config/ServerConfig.ts"
import { ConnectionsLayer } from "./connect/ConnectionsApi.ts"
import { LocalModelsLayer } from "./connect/LocalModelsApi.ts"
import { Members } from "./sharing/Members.ts"
import { Conversations } from "./conversations/Conversations.ts"
import { ConversationsLayer, SharedLayer } from "./conversations/ConversationRoutes.ts"
import { HandledApi } from "./contract/ServerApi.ts"
import { CollectionsLayer } from "./documents/Collections.ts"
import { DocumentsLayer } from "./documents/Documents.ts"
import { FiguresLayer } from "./documents/Figures.ts"
import { PageImages } from "./documents/PageImages.ts"
import { JobsLayer } from "./jobs/JobRoutes.ts"
import { JobRunnerLayer } from "./jobs/JobRunner.ts"
import { Jobs, QueueLayer } from "./jobs/Jobs.ts"
import { Maintenance } from "./jobs/Maintenance.ts"
import { QaLayer } from "./documents/Qa.ts"
import { IdentityLayer } from "./identity/IdentityRoutes.ts"
import { McpLayer } from "./mcp/McpRoute.ts"
import { RunningQuestions } from "./libraries/RunningQuestions.ts"
import { UserLibraries } from "./libraries/UserLibraries.ts"
import { StatusLayer } from "./documents/Status.ts"
import { AccountLayer } from "./gateway/Account.ts"
import { ModelRoutesLayer } from "./gateway/ModelRoutes.ts"
import { ImagesLayer } from "./gateway/Images.ts"
import { ModelsLayer } from "./gateway/Models.ts"
import { VideosLayer } from "./gateway/Videos.ts"
import { RequestMiddlewareLayer } from "./http/RequestMiddleware.ts"
import { PageLayer } from "./http/Page.ts"
import { ReferenceLayer } from "./http/Reference.ts"
import { ListenLayer } from "./Listen.ts"
import { SourcesLayer } from "./sources/SourceRoutes.ts"
import { SourceRunnerLayer } from "./sources/SourceRunner.ts"
import { Sources } from "./sources/Sources.ts"
import { FilesLayer } from "./media/FileLinks.ts"
import { MediaFiles } from "./media/MediaFiles.ts"
import { MediaTasks } from "./media/MediaTasks.ts"
import { Charges } from "./billing/Charges.ts"
import { Ledger } from "./billing/Ledger.ts"
import { Prices } from "./billing/Prices.ts"
import { Retention } from "./billing/Retention.ts"
import { Recovery } from "./billing/Recovery.ts"
import { UsageLayer } from "./accounts/UsageByDay.ts"
import { CurrentModels } from "./providers/CurrentModels.ts"
import { LibraryModelsLayer, modelsFrom } from "./providers/LibraryModels.ts"
import { HealthLayer } from "./operation/Health.ts"
import { LogsLayer } from "./operation/Logs.ts"
import { MetricsLayer } from "./operation/MetricsRoute.ts"
import { ProvidersFileState } from "./operation/ProvidersFileState.ts"
import { TracesLayer } from "./operation/Traces.ts"
import { ProvidersLayer } from "./providers/ProvidersLayer.ts"

/** Every endpoint of the contract. */
const ApiLayer = HttpApiBuilder.layer(HandledApi).pipe(
  Layer.provide([
    DocumentsLayer,
    CollectionsLayer,
    JobsLayer,
    FiguresLayer,
    QaLayer,
    StatusLayer,
    SessionLayer,
    ImagesLayer,
    VideosLayer,
    ModelsLayer,
    AccountLayer,
    AdministrationLayer,
    UsageLayer,
    ConversationsLayer,
    SharedLayer,
    ConnectionsLayer,
    LocalModelsLayer,
    SourcesLayer
  ]),
  Layer.provide([AuthLayer, MalformedRequest.layer])
)

/** Prices, the ledger, and what charges for calls. */
const BillingLayer = Layer.merge(Charges.layer, Retention.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, Prices.layer))
)

/** All routes. */
const RoutesLayer = Layer.mergeAll(
  ApiLayer,
  ModelRoutesLayer,
  McpLayer,
  IdentityLayer,
  PageLayer,
  ReferenceLayer,
  HealthLayer,
  MetricsLayer,
  FilesLayer,
  RequestMiddlewareLayer
)

/** Of a worker: only what a supervisor asks. */
const WorkerRoutesLayer = Layer.mergeAll(HealthLayer, MetricsLayer, RequestMiddlewareLayer)

/** Prints the page's address, then adds the samples in the background. */
const start = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const { host, data, misspeltVariables, unusedVariables } = yield* ServerConfig
  const signIn = yield* SignIn
  const libraries = yield* UserLibraries
  yield* Console.log(
    banner({
      host,
      port: "port" in address ? address.port : 0,
      login: signIn.login,
      data,
      modelsFrom: yield* modelsFrom,
      models: {
        embedding: (yield* Embedder).model.id,
        rerank: (yield* Reranker).model.id,
        chat: (yield* Reader).model.id
      },
      misspeltVariables,
      unusedVariables,
      secrets: yield* signIn.firstStart
    })
  )
  yield* Effect.forkScoped(libraries.fill)
})

/** Creates the first key before the first request is answered: a server that is ready knows it. */
const FirstStart = Layer.effectDiscard(Effect.flatMap(SignIn, ({ firstStart }) => firstStart))

/** The schemas limit the length of path parameters. */
const SERVE_OPTIONS = {
  routerConfig: { maxParamLength: Number.MAX_SAFE_INTEGER },
  disableLogger: true,
  disableListenLog: true
}

/**
 * The whole server over the given models.
 *
 * **Details.** The socket is bound first, so that a used port fails before anything is written. The error is a
 * `StartError` with advice. Closing the layer's scope stops the server gracefully.
 */
export const layerWith = <E, R>(models: Layer.Layer<Embedder | Reranker | Reader, E, R>) =>
  over(models, Layer.provide(serving(start, HttpRouter.serve(RoutesLayer, SERVE_OPTIONS)), FirstStart))

const startWorker = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const port = "port" in address ? address.port : 0
  yield* Console.log(`Sluice works on jobs. Its health: port ${port}, /healthz and /readyz`)
})

/** A worker: it runs the jobs of all servers of its database, and answers only health checks and metrics. */
const workerWith = <E, R>(models: Layer.Layer<Embedder | Reranker | Reader, E, R>) =>
  over(models, serving(startWorker, HttpRouter.serve(WorkerRoutesLayer, SERVE_OPTIONS)))

/** Answers requests and works on jobs. */
const serving = <E, R, A, E2, R2>(started: Effect.Effect<void, E, R>, served: Layer.Layer<A, E2, R2>) =>
  Layer.effectDiscard(started).pipe(
    Layer.provide([served, JobRunnerLayer, SourceRunnerLayer]),
    Layer.merge(Maintenance.layer)
  )

/** A role of the server over the services that every role has. */
const over = <A, E, R, E2, R2>(
  models: Layer.Layer<Embedder | Reranker | Reader, E, R>,
  role: Layer.Layer<A, E2, R2>
) =>
  role.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        UserLibraries.layer,
        RunningQuestions.layer,
        PageImages.layer,
        Recovery.layer,
        Sources.layer
      ).pipe(
        Layer.provideMerge(ProvidersLayer),
        Layer.provideMerge(BillingLayer),
        Layer.provideMerge(
          Layer.mergeAll(
            MediaFiles.layer,
            MediaTasks.layer,
            ProvidersFileState.layer,
            Conversations.layer,
            Layer.provideMerge(Jobs.layer, QueueLayer)
          ).pipe(Layer.provideMerge(Members.layer))
        ),
        // Before the services that write, because it rejects a data folder of a newer version.
        Layer.provideMerge(AccountsLayer),
        Layer.provideMerge(Layer.provideMerge(CurrentModels.layer, models))
      )
    ),
    Layer.provideMerge(ListenLayer),
    Layer.provide([LogsLayer, TracesLayer]),
    Layer.provideMerge(ServerConfig.layer)
  )

/** The whole server, configured by the environment. */
export const layer = layerWith(LibraryModelsLayer)

/** A worker, configured by the environment. */
export const workerLayer = workerWith(LibraryModelsLayer)
