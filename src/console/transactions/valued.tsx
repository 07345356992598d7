import { Id, shortened } from '../parts/copy-button.js'
import { Fact } from '../parts/facts.js'
import { exactMicros, formatUnits, formatUsd, usdMicros } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { Table } from '../parts/table.js'
import { At } from '../parts/times.js'
import type { Detail } from './detail.js'

const WEI_DECIMALS = 18
const GWEI_DECIMALS = 9

/** Its valuation as of the decision, its cost, and each set of signed bytes. */
export function Valued({ tx }: { readonly tx: Detail }) {
  const { valuation, attempts } = tx
  return (
    <Card title="Value and fees">
      {valuation === null ? (
        <Empty title="It was refused before it was valued" />
      ) : (
        <dl class={attempts.length > 0 ? 'facts spaced' : 'facts'}>
          <Fact title="Counted towards the caps">{formatUsd(tx.spend_usd)}</Fact>
          <Fact title="Reserved">
            {valuation.reserved_usd === null ? 'Nothing' : formatUsd(valuation.reserved_usd)}
          </Fact>
          <Fact title="Moves out">{formatUsd(valuation.value_usd)}</Fact>
          <Fact title="Gas, at worst">
            {valuation.gas_usd === null ? 'The service pays' : formatUsd(valuation.gas_usd)}{' '}
            {tx.gas_limit !== null && <span class="mute">for {tx.gas_limit} units</span>}
          </Fact>
          {valuation.prices.map(({ token, symbol, usd }) => (
            <Fact
              key={token ?? 'native'}
              title={`${symbol ?? (token === null ? 'Native coin' : shortened(token))} at`}
            >
              {priceShown(usd)}
            </Fact>
          ))}
          <Fact title="Fee paid">{feeShown(tx)}</Fact>
        </dl>
      )}
      {attempts.length > 0 && (
        <Table
          caption="Signed bytes, oldest first"
          rows={attempts}
          keyOf={({ tx_hash }) => tx_hash}
          columns={[
            { title: 'Signed', cell: ({ signed_at }) => <At at={signed_at} /> },
            { title: 'As', cell: ({ cancels }) => (cancels ? 'cancellation' : 'the call') },
            {
              title: 'Hash',
              cell: ({ tx_hash }) => <Id value={tx_hash} label="Copy this attempt's hash" />,
            },
            {
              title: 'Highest fee, gwei',
              cell: (attempt) => formatUnits(attempt.max_fee_per_gas_wei, GWEI_DECIMALS),
              align: 'end',
            },
            {
              title: 'Tip, gwei',
              cell: (attempt) => formatUnits(attempt.max_priority_fee_per_gas_wei, GWEI_DECIMALS),
              align: 'end',
            },
          ]}
        />
      )}
    </Card>
  )
}

function feeShown({ fee_native_wei: paid, status }: Detail): string {
  if (status === 'refused') return 'None'
  return paid === null ? 'Not mined' : `${formatUnits(paid, WEI_DECIMALS, WEI_DECIMALS)} native`
}

/** Feeds have more digits than millionths of a dollar. */
function priceShown(usd: string): string {
  const micros = usdMicros(usd.replace(/(\.\d{6})\d+$/, '$1'))
  return micros === null ? usd : exactMicros(micros)
}
