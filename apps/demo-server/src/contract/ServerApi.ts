/** Every endpoint of the server in one HttpApi: the gateway's and the documents'. */
import {
  AccountGroup,
  ChatGroup,
  documentFields,
  EmbeddingsGroup,
  ImagesGroup,
  MalformedRequest,
  ModelsGroup,
  PACKAGE_VERSION,
  RerankGroup,
  VideosGroup
} from "@sluice/core/contract"
import { HttpApi, OpenApi } from "effect/http-api"
import { AdministrationGroup, UsageGroup } from "./Administration.ts"
import { CollectionsGroup } from "./Collections.ts"
import { ConnectionsGroup } from "./Connections.ts"
import { ConversationsGroup, SharedGroup } from "./Conversations.ts"
import { DocumentsGroup } from "./Documents.ts"
import { FiguresGroup } from "./Figures.ts"
import { extendOpenApi } from "./OpenApi.ts"
import { LocalModelsGroup } from "./LocalModels.ts"
import { QaGroup } from "./Qa.ts"
import { SessionGroup } from "./Session.ts"
import { SourcesGroup } from "./Sources.ts"
import { JobsGroup, StatusGroup } from "./Status.ts"

/** The endpoints that `HttpApiBuilder` serves. Chat, embeddings and rerank have routes of their own. */
export const HandledApi = HttpApi.make("sluice")
  .add(ModelsGroup, AccountGroup, ImagesGroup, VideosGroup)
  .add(DocumentsGroup, CollectionsGroup, JobsGroup, FiguresGroup, QaGroup, ConversationsGroup, SharedGroup)
  .add(SourcesGroup)
  .add(StatusGroup, SessionGroup, AdministrationGroup, UsageGroup, ConnectionsGroup, LocalModelsGroup)
  .middleware(MalformedRequest)

const Calls = HttpApi.make("sluice")
  .add(RerankGroup, EmbeddingsGroup, ChatGroup)
  .middleware(MalformedRequest)
  .addHttpApi(HandledApi)

const documented = documentFields(Calls)

export class ServerApi extends Calls.annotateMerge(
  OpenApi.annotations({
    title: "Sluice",
    version: PACKAGE_VERSION,
    transform: (document: Record<string, unknown>) => extendOpenApi(documented(document)),
    description:
      "Cited answers from your documents, and a gateway to the models behind them. " +
      "`/v1` and the documents need an API key, `/api` needs the system access token. The page's session " +
      "gives the page access to all three."
  })
) {}
