/** The list of models, by operation. */
import { useSignal } from "@preact/signals"
import { type ModelGroup, VIDEO_GROUPS } from "@sluice/core/contract"
import type { ListedModel } from "../api/gateway.ts"
import { DemoModels } from "../page/DemoModels.tsx"
import { CAPABILITIES, playgroundHref } from "../page/route.ts"
import { SearchField } from "../ui/Fields.tsx"
import { pluralize, matchesSearch } from "../ui/format.ts"
import { LoadState } from "../ui/Notices.tsx"
import { modelList, modelsError, OPERATION_OF, OPERATION_TITLES } from "./models.ts"

/** What the interface says of each group of models. Those of videos name their lengths and sizes. */
const GROUP_NOTES: Record<Exclude<ModelGroup, keyof typeof VIDEO_GROUPS>, string> = {
  embeddings: "Texts to vectors",
  rerank: "Orders documents by relevance to a question",
  chat: "Messages to a text",
  I1: "From text and an image: input fidelity, moderation, output format",
  I2: "From text only",
  I3: "From text, or an image to edit: watermark (on by default), seed",
  I4: "Several images in, several out, fifteen together: series, watermark, seed",
  I5: "Directly or as a task: aspect ratio, safety tolerance, seed, raw",
  I6: "From text and an image: erase, repaint, vary",
  "image-to-video": "Starts from an image"
}

/** Up to this many values are listed; more are a range. */
const MAX_LISTED = 4

const listText = (values: ReadonlyArray<string>): string =>
  values.length <= MAX_LISTED ? values.join(", ") : `${values[0]} to ${values.at(-1)}`

const NOTES = new Map<string, string>([
  ...Object.entries(GROUP_NOTES),
  ...Object.entries(VIDEO_GROUPS).map(
    ([group, { seconds, size }]) => [group, `${listText(seconds)} s, ${listText(size)}`] as const
  )
])

const groupNote = (group = ""): string | undefined => NOTES.get(group)

const Row = ({ model }: { readonly model: ListedModel }) => {
  const { group, id, note, operation = "", owned_by } = model
  const capability = CAPABILITIES.find((each) => OPERATION_OF[each] === operation)
  const owner = owned_by === undefined ? "" : `By ${owned_by}. No description.`
  const extra = group === operation ? undefined : groupNote(group)
  return (
    <li>
      <code>{id}</code>
      {group !== undefined && group !== operation && <span class="group">{group}</span>}
      <p class="quiet">
        {note ?? owner}
        {note !== undefined && extra !== undefined && <br />}
        {extra}
      </p>
      {capability !== undefined && (
        <a href={playgroundHref(capability, { model: id })} aria-label={`Try ${id}`}>
          Try
        </a>
      )}
    </li>
  )
}

/** More models than this can be searched. */
const SEARCH_FROM = 12

const titleOf = ({ operation = "" }: ListedModel): string => OPERATION_TITLES[operation] ?? "Others"

export const ModelsView = () => {
  const search = useSignal("")
  const all = modelList.value
  const found = (all ?? []).filter((model) =>
    matchesSearch([...Object.values(model), groupNote(model.group)].join(" "), search.value)
  )
  const sections = Map.groupBy(found, titleOf)
  return (
    <div class="stack loose model-list">
      <h1>Models</h1>
      <DemoModels />
      <LoadState error={modelsError.value} loaded={all !== undefined} />
      {all?.length === 0 && (
        <p class="lead">The server has no models. Configure a gateway, or start it without one.</p>
      )}
      {all !== undefined && all.length > SEARCH_FROM && (
        <SearchField label="Find a model" hint="Find by name, group or description" text={search} />
      )}
      {all !== undefined && all.length > 0 && (
        <output class="quiet">{pluralize(found.length, "model")}</output>
      )}
      {[...Object.values(OPERATION_TITLES), "Others"].map((title) => {
        const rows = sections.get(title)?.map((model) => <Row key={model.id} model={model} />)
        return (
          rows && (
            <section class="stack" key={title} aria-label={title}>
              <h2>{title}</h2>
              <ul class="lines three closed">{rows}</ul>
            </section>
          )
        )
      })}
    </div>
  )
}
