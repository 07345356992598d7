import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { call, callWithKey, type Output } from '../api.js'
import { Id } from '../parts/copy-button.js'
import { Dialog } from '../parts/dialog.js'
import { formatUnits, formatUsd } from '../parts/money.js'
import { Answered, Empty } from '../parts/states.js'
import { Table } from '../parts/table.js'
import { TransactionLink } from '../parts/transaction-link.js'
import type { ListedAsset } from './assets.js'
import { type ByHandCall, endingCall } from './calldata.js'
import { QuotedForm, useQuoted } from './quoted.js'
import { RevokeAllowances } from './revoke-allowances.js'
import { Outcome } from './send-by-hand.js'

const PATH = '/api/v1/agent/wallets/:sub_wallet_id/allowances'
type Allowance = Output<'GET', typeof PATH>['allowances'][number]

const POLL_MS = 30_000

interface Shown {
  readonly walletId: string
  readonly chainId: number
  /** Secret of a key of this wallet; null if no key may revoke. */
  readonly secret: string | null
  /** The wallet's assets with known symbols and decimals; null before they are read. */
  readonly assets: readonly ListedAsset[] | null
}

/** The allowances of a wallet, and their revocation. */
export function Allowances({ walletId, chainId, secret, assets }: Shown) {
  const allowances = useQuery({
    queryKey: [PATH, walletId, chainId],
    queryFn: () => call('GET', PATH, { sub_wallet_id: walletId, chain_id: chainId }),
    refetchInterval: POLL_MS,
  })
  // Not in its row, which disappears with the allowance, while the result must stay readable.
  const [ending, end] = useState<ByHandCall | null>(null)
  return (
    <>
      <Answered query={allowances} what="allowances">
        {({ allowances }) =>
          allowances.length === 0 ? (
            <Empty title="No allowance is in force" />
          ) : (
            <>
              <Table<Allowance>
                caption="Allowances"
                rows={allowances}
                keyOf={({ tx_id, token, spender, token_id }) =>
                  `${tx_id} ${token} ${spender} ${token_id}`
                }
                columns={[
                  {
                    title: 'Token',
                    cell: ({ token }) => (
                      <>
                        {assetAt(assets, token)?.symbol} <Id value={token} label="Copy the token" />
                      </>
                    ),
                  },
                  {
                    title: 'Spender',
                    cell: ({ spender }) => <Id value={spender} label="Copy the spender" />,
                  },
                  { title: 'Made by', cell: ({ tx_id }) => <TransactionLink txId={tx_id} /> },
                  { title: 'Amount', cell: (one) => amountOf(one, assets), align: 'end' },
                  {
                    title: 'Value',
                    cell: ({ usd_value }) => (usd_value === null ? '' : formatUsd(usd_value)),
                    align: 'end',
                  },
                  {
                    title: 'End it',
                    cell: (one) =>
                      secret === null ? (
                        <span class="mute">needs one of its keys, below</span>
                      ) : (
                        <RevokeOne of={one} onPressed={(call) => end(call)} />
                      ),
                  },
                ]}
              />
              {secret !== null && (
                <RevokeAllowances secret={secret} chainId={chainId} walletId={walletId} />
              )}
            </>
          )
        }
      </Answered>
      {ending !== null && secret !== null && (
        <Dialog title="Revoke this allowance?" onClose={() => end(null)}>
          <Revocation of={ending} chainId={chainId} secret={secret} />
        </Dialog>
      )}
    </>
  )
}

function assetAt(assets: readonly ListedAsset[] | null, token: string): ListedAsset | undefined {
  return assets?.find((one) => one.token.toLowerCase() === token.toLowerCase())
}

/** No token has this much: Permit2 uses 160 bits for "unlimited", tokens 256. */
const UNLIMITED_FROM = 2n ** 159n

/** In the token's own unit, if it is known. */
function amountOf(
  { amount, token, kind }: Allowance,
  assets: readonly ListedAsset[] | null,
): string {
  if (amount === null) return 'not known'
  const asset = kind === 'erc20' || kind === 'permit2' ? assetAt(assets, token) : undefined
  if (!/^\d+$/.test(amount) || asset === undefined) return amount
  return BigInt(amount) >= UNLIMITED_FROM ? 'without end' : formatUnits(amount, asset.decimals)
}

function RevokeOne(shown: {
  readonly of: Allowance
  readonly onPressed: (call: ByHandCall) => void
}) {
  const ending = endingCall(shown.of)
  if (ending === null) return <span class="mute">not by one call</span>
  return (
    <button
      type="button"
      class="danger-quiet"
      aria-label={`Revoke ${shown.of.spender}`}
      onClick={() => shown.onPressed(ending)}
    >
      Revoke
    </button>
  )
}

function Revocation(shown: {
  readonly of: ByHandCall
  readonly chainId: number
  readonly secret: string
}) {
  const quoted = useQuoted({
    submission: { chain_id: shown.chainId, ...shown.of },
    quote: (asked) => callWithKey(shown.secret, 'POST', '/api/tx/simulate', asked),
    go: (asked, submissionId) =>
      callWithKey(shown.secret, 'POST', '/api/tx/send', asked, submissionId),
  })
  return (
    <QuotedForm
      title="One transaction"
      of={quoted}
      isComplete
      outcome={(outcome) => <Outcome of={outcome} />}
      goLabel={({ success }) => (success ? 'Revoke it' : null)}
    >
      <p class="small mute">This wallet pays the gas.</p>
    </QuotedForm>
  )
}
