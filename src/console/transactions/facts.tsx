import { Link } from 'wouter-preact'
import { chainName } from '../parts/chain-names.js'
import { Id } from '../parts/copy-button.js'
import { Fact } from '../parts/facts.js'
import { formatUnits } from '../parts/money.js'
import type { useNames } from '../parts/names.js'
import { Card } from '../parts/page.js'
import { StatusPill } from '../parts/status-pill.js'
import type { Detail } from './detail.js'

const WEI_DECIMALS = 18

/** Describes a transaction, and why it failed if it did. */
export function Summary(shown: {
  readonly tx: Detail
  readonly names: ReturnType<typeof useNames>
}) {
  const { tx, names } = shown
  const none = tx.status === 'refused' ? 'None' : 'None yet'
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
          {tx.tx_hash === null ? none : <Id value={tx.tx_hash} label="Copy the hash" />}
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
            <span class="mute">
              {tx.status === 'refused' && 'the first of '}
              {tx.data_bytes} bytes
            </span>
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
        <Fact title="Nonce">{tx.nonce ?? none}</Fact>
        <Fact title="Block">{tx.block_number ?? none}</Fact>
        {tx.status !== 'refused' && <Fact title="Confirmations">{tx.confirmations}</Fact>}
        <Fact title="Request">
          <Id value={tx.request_id} label="Copy the request's id" />
        </Fact>
      </dl>
    </Card>
  )
}
