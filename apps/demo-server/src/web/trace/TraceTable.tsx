/** The trace for those who would rather have numbers. */
import type { Trace } from "../../contract/index.ts"
import { openPassage } from "../source/source.ts"
import { placeOf } from "../source/placeOf.ts"

export const TraceTable = ({ passages }: { readonly passages: Trace["passages"] }) => (
  <div class="wide">
    <table class="trace-table">
      <thead>
        <tr>
          <th scope="col">Reranked</th>
          <th scope="col">Fused</th>
          <th scope="col">Vector</th>
          <th scope="col">Keywords</th>
          <th scope="col">Passage</th>
          <th scope="col">Score</th>
          <th scope="col">Kept</th>
        </tr>
      </thead>
      <tbody>
        {passages.map((traced) => (
          <tr key={traced.passage.id} data-kept={traced.kept}>
            <td>{traced.rerankRank}</td>
            <td>{traced.recallRank}</td>
            <td>{traced.vectorRank ?? "–"}</td>
            <td>{traced.keywordRank ?? "–"}</td>
            <th scope="row">
              <button class="link" type="button" onClick={() => openPassage(traced)}>
                {placeOf(traced.passage.document.title, traced.passage.headings, traced.passage.page)}
              </button>
            </th>
            <td>{traced.rerankScore?.toFixed(3) ?? "–"}</td>
            <td>{traced.kept ? "yes" : ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
