import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { call, callWithKey, type Output } from '../api.js'
import { chainName } from '../parts/chain-names.js'
import { Dialog } from '../parts/dialog.js'
import { formatUsd } from '../parts/money.js'
import { Answered, Empty } from '../parts/states.js'
import { QuotedForm, useQuoted } from './quoted.js'

const PATH = '/api/v1/agent/wallets/:sub_wallet_id/positions'
type Position = Output<'GET', typeof PATH>['positions'][number]

/** Reads the chain's node. */
const POLL_MS = 30_000

/** A wallet's deposits on all chains, and their withdrawal. */
export function Positions(shown: {
  readonly walletId: string
  /** Secret of a key of this wallet; null if no key may withdraw. */
  readonly secret: string | null
}) {
  const { walletId, secret } = shown
  const positions = useQuery({
    queryKey: [PATH, walletId],
    queryFn: () => call('GET', PATH, { sub_wallet_id: walletId }),
    refetchInterval: POLL_MS,
  })
  // Not in its row, which disappears when all of it is withdrawn, while the result must stay
  // readable.
  const [leaving, leave] = useState<Position | null>(null)
  return (
    <>
      <Answered query={positions} what="positions">
        {({ positions }) =>
          positions.length === 0 ? (
            <Empty title="Nothing is deposited" />
          ) : (
            <ul class="rows">
              {positions.map((one) => (
                <li key={`${one.chain_id} ${one.market_id}`}>
                  <span>
                    {one.market_id} <span class="mute">on {chainName(one.chain_id)}</span>
                  </span>
                  <span class="actions">
                    {worthOf(one)}
                    {secret !== null && one.shares !== null && (
                      <button
                        type="button"
                        aria-label={`Withdraw from ${one.market_id}`}
                        onClick={() => leave(one)}
                      >
                        Withdraw
                      </button>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      {leaving !== null && secret !== null && (
        <Dialog
          title={`Withdraw from ${leaving.market_id} on ${chainName(leaving.chain_id)}?`}
          onClose={() => leave(null)}
        >
          <WithdrawAll of={leaving} secret={secret} />
        </Dialog>
      )}
    </>
  )
}

function worthOf({ shares, usd_value }: Position): string {
  if (shares === null) return 'not available now'
  return usd_value === null ? 'unpriced' : formatUsd(usd_value)
}

function WithdrawAll(shown: { readonly of: Position; readonly secret: string }) {
  const { chain_id, market_id } = shown.of
  const quoted = useQuoted({
    submission: { chain_id, market_id, shares: 'max' },
    quote: (asked) => callWithKey(shown.secret, 'POST', '/api/defi/withdraw/quote', asked),
    go: (asked, submissionId) =>
      callWithKey(shown.secret, 'POST', '/api/defi/withdraw', asked, submissionId),
  })
  return (
    <QuotedForm
      title="All of it"
      of={quoted}
      isComplete
      outcome={({ amount_out, gas_sponsored }) => (
        <>
          <li>Gives about {amount_out}, the fee taken off.</li>
          <li>{gas_sponsored ? 'The service pays the gas.' : 'This wallet pays the gas.'}</li>
        </>
      )}
      goLabel={({ amount_out }) => `Withdraw ${amount_out}`}
    >
      <p class="small mute">All shares that this wallet holds.</p>
    </QuotedForm>
  )
}
