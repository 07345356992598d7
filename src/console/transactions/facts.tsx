import { Link } from 'wouter-preact'
import { chainName } from '../parts/chain-names.js'
import { Id } from '../parts/copy-button.js'
import { Fact } from '../parts/facts.js'
import { formatUnits, formatUsd } from '../parts/money.js'
import type { useNames } from '../parts/names.js'
import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { Table } from '../parts/table.js'
import { Ago, At } from '../parts/times.js'
import type { Detail } from './detail.js'

const WEI_DECIMALS = 18
const GWEI_DECIMALS = 9

/** What it is, and why it failed where it did. */
export function Summary(shown: {
  readonly tx: Detail
  readonly names: ReturnType<typeof useNames>
}) {
  const { tx, names } = shown
  return (
    <Card title={tx.kind.replaceAll('_', ' ')} actions={<StatusPill status={tx.status} />}>
      {tx.error !== null && (
        <p class="problem">
          {tx.error.message} <code>{tx.error.code}</code>
        </p>
      )}
      <dl class="facts">
        <Fact title="Id">
          <Id value={tx.tx_id} label="Copy the transaction's id" />
        </Fact>
        <Fact title="Hash">
          {tx.tx_hash === null ? 'None yet' : <Id value={tx.tx_hash} label="Copy the hash" />}
        </Fact>
        {tx.replaced_hashes.map((hash) => (
          <Fact key={hash} title="Replaced">
            <Id value={hash} label="Copy the replaced hash" />
          </Fact>
        ))}
        <Fact title="Chain">{chainName(tx.chain_id)}</Fact>
        <Fact title="From">
          <Id value={tx.from} label="Copy the sender's address" />
        </Fact>
        <Fact title="To">
          <Id value={tx.to} label="Copy the callee's address" />{' '}
          <Link href={`/transactions?search=${tx.to}`}>All with it</Link>
        </Fact>
        <Fact title="Value">{formatUnits(tx.value, WEI_DECIMALS, WEI_DECIMALS)} native</Fact>
        {tx.data !== '0x' && (
          <Fact title="Data">
            <Id value={tx.data} label="Copy the data" />{' '}
            <span class="mute">{(tx.data.length - 2) / 2} bytes</span>
          </Fact>
        )}
        <Fact title="Agent">
          <Link href={`/transactions?key_id=${encodeURIComponent(tx.key_id)}`}>
            {names.keyName(tx.key_id)}
          </Link>
        </Fact>
        <Fact title="Wallet">
          <Link href={`/transactions?sub_wallet_id=${encodeURIComponent(tx.sub_wallet_id)}`}>
            {names.walletName(tx.sub_wallet_id)}
          </Link>
        </Fact>
        <Fact title="Nonce">{tx.nonce ?? 'None yet'}</Fact>
        <Fact title="Block">{tx.block_number ?? 'None yet'}</Fact>
        <Fact title="Confirmations">{tx.confirmations}</Fact>
        <Fact title="Request">
          <Id value={tx.request_id} label="Copy the request's id" />
        </Fact>
      </dl>
    </Card>
  )
}

/** Lists that its clean verdict rests on, each by the version that was held against it. */
export function Screened({ tx: { screened_against: lists } }: { readonly tx: Detail }) {
  return (
    <Card title="Screening">
      {lists === null ? (
        <Empty title="No verdict is kept of it" />
      ) : (
        <>
          <p class="small">No address in it is on any of these lists.</p>
          <ul class="rows">
            {lists.map(({ list, version, checked_at }) => (
              <li key={list}>
                <span class="address">
                  {list} <code class="mute">{version}</code>
                </span>
                <span class="mute">
                  {/* What came with the service was never fetched. */}
                  {Date.parse(checked_at) === 0 ? (
                    'built in'
                  ) : (
                    <>
                      checked <Ago at={checked_at} />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  )
}

/** What it was valued at when it was decided, what it cost, and each set of signed bytes. */
export function Fees({ tx }: { readonly tx: Detail }) {
  const { valuation, fee_native_wei: paid } = tx
  return (
    <Card title="Value and fees">
      <dl class="facts spaced">
        <Fact title="Counted on the caps">{formatUsd(tx.spend_usd)}</Fact>
        <Fact title="Reserved">{formatUsd(valuation.reserved_usd)}</Fact>
        <Fact title="Moves out">{formatUsd(valuation.value_usd)}</Fact>
        <Fact title="Gas, at worst">
          {formatUsd(valuation.gas_usd)} <span class="mute">for {tx.gas_limit} units</span>
        </Fact>
        <Fact title="Native coin at">{formatUsd(valuation.native_price_usd)}</Fact>
        <Fact title="Fee paid">
          {paid === null ? 'Not mined' : `${formatUnits(paid, WEI_DECIMALS, WEI_DECIMALS)} native`}
        </Fact>
      </dl>
      {tx.attempts.length > 0 && (
        <>
          <Table
            caption="Signed bytes, oldest first"
            rows={tx.attempts}
            keyOf={({ tx_hash }) => tx_hash}
            columns={[
              { title: 'Signed', cell: ({ signed_at }) => <At at={signed_at} /> },
              { title: 'As', cell: ({ cancels }) => (cancels ? 'cancellation' : 'the call') },
              {
                title: 'Hash',
                cell: ({ tx_hash }) => <Id value={tx_hash} label="Copy this attempt's hash" />,
              },
              {
                title: 'Fee at most, gwei',
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
          <p class="small">
            Each of these was approved by both keys: the service signed for it, and the identity
            provider agreed.
          </p>
          <p class="small">
            <Link href="/audit">Verify the evidence of both</Link>
          </p>
        </>
      )}
    </Card>
  )
}
