/** Usage for those who would rather have numbers. */
import type { DayUsage } from "../../contract/Usage.ts"
import { usd } from "../ui/money.ts"
import { Scroller } from "../ui/Scroller.tsx"

export const UsageTable = ({ rows }: { readonly rows: ReadonlyArray<DayUsage> }) => (
  <Scroller class="wide" label="Usage by day and model">
    <table class="trace-table usage-table">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          <th scope="col">Model</th>
          <th scope="col">Calls</th>
          <th scope="col">Tokens in</th>
          <th scope="col">Tokens out</th>
          <th scope="col">Spent</th>
        </tr>
      </thead>
      <tbody>
        {rows.toReversed().map(({ calls, day, input_tokens, model, operation, output_tokens, quota }) => (
          <tr key={`${day} ${model} ${operation}`}>
            <td>{day}</td>
            <th scope="row">{model}</th>
            <td>{calls.toLocaleString()}</td>
            <td>{input_tokens.toLocaleString()}</td>
            <td>{output_tokens.toLocaleString()}</td>
            <td>{usd(quota)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroller>
)
